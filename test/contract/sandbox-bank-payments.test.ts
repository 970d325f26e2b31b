import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandboxBankPayments } from '../../src/core/providers/sandbox-bank/payment-adapter.js';
import { startSandboxBank } from '../../sandbox-bank/server.js';
import { submitForm } from '../sandbox-bank/acquirer/support.js';
import {
  bankClient,
  optionsAt,
  removeFolder,
  SECRET,
  startReceiver,
  temporaryFolder,
} from '../sandbox-bank/support.js';
import { describePaymentProvider } from './payment-provider.js';
import type { PaymentWays } from './payment-subject.js';

const never = new AbortController().signal;

function paymentsAt(url: string, deduplicates = true, prepares = false) {
  return createSandboxBankPayments({ ...optionsAt(url, deduplicates), prepares });
}

const ACTS = {
  pay: { action: 'pay', choice: 'good' },
  pay_once: { action: 'pay', choice: 'once' },
  be_declined: { action: 'pay', choice: 'stolen' },
  leave: { action: 'cancel' },
};

/** The sandbox bank's ways. */
const WAYS: PaymentWays = {
  page: { handle: null, expiresAt: null },
  unpaid: { kind: 'pending', awaits: 'customer' },
  adds: [],
  events: { paid: 'charge.paid', refunded: 'refund.refunded' },
  cardBank: null,
  declinedPage: { state: { kind: 'declined', decline: 'hard' }, event: 'charge.declined' },
  leftPage: { state: { kind: 'cancelled' }, event: 'charge.cancelled' },
  singleUse: 'marked',
  accountsOnPages: true,
  setup: { type: 'card' },
  repeats: 'first_result',
  revoked: { kind: 'declined', code: 'authorization_revoked', decline: 'hard' },
  noMethod: { kind: 'declined', decline: 'hard' },
  revokedAgain: 'revoked',
  refunds: {
    outcomes: 'at_once',
    chargeHandle: null,
    failedLate: 'returned',
    exceeds: { refund: { code: 'exceeds_charge' } },
    notPaid: { refund: { code: 'charge_not_paid' } },
  },
  signsTime: true,
};

for (const deduplicate of [true, false]) {
  describePaymentProvider(`sandbox-bank, de-duplication ${deduplicate}`, async () => {
    const folder = temporaryFolder();
    const service = await startReceiver();
    const bank = await startSandboxBank({
      dataDir: folder,
      secret: SECRET,
      deduplicate,
      conclusiveAfterMs: 1_000,
      callbackUrl: service.url,
    });
    /** Uses a control of the bank for tests. */
    const act = async (path: string, body: object) => {
      const { status } = await bankClient(bank.url).post(`/_sandbox${path}`, body);
      if (status !== 200) throw new Error(`${path} is answered ${status}`);
    };
    const common = {
      later: 'order-001',
      withoutAnswer: 'order-004',
      lost: 'order-005',
      pending: 'order-006',
      failingFirst: 'order-007',
      throttledFirst: 'order-010',
    };
    return {
      provider: paymentsAt(bank.url, deduplicate, true),
      unreachable: paymentsAt('http://127.0.0.1:1', deduplicate, true),
      pages: { ...common, page: 'order-789' },
      charges: {
        ...common,
        paid: 'order-789',
        declinedHard: 'order-002',
        declinedSoft: 'order-003',
        declinedSoftTwice: 'order-013',
        outOfOrder: 'order-009',
        anotherAmount: 'order-014',
        redirected: 'order-026',
        feeLater: 'order-017',
        surcharged: 'order-018',
      },
      refunds: {
        ...common,
        refunded: 'refund-789',
        refused: 'refund-002',
        needsAccount: 'refund-012',
      },
      refusals: {
        hard: 'card_declined',
        soft: 'insufficient_funds',
        page: 'invalid_account',
        refund: 'refund_refused',
      },
      ways: WAYS,
      desk: {
        dispute: (reference, outcome) => act(`/charges/${reference}/disputes`, { outcome }),
        refund: (reference, amountMinor) =>
          act(`/charges/${reference}/refunds`, { amount_minor: Number(amountMinor) }),
        failRefund: ({ marker }) => act(`/refunds/${marker}`, { outcome: 'failed' }),
      },
      async act(url, act) {
        const response = await submitForm(url, ACTS[act]);
        return response.headers.get('location');
      },
      callbacksAbout: (reference, count) => service.wait(reference, count),
      async close() {
        await bank.close();
        await service.close();
        removeFolder(folder);
      },
    };
  });
}

const paid = {
  reference: 'r',
  status: 'paid',
  paid_minor: 100,
  currency: 'NGN',
  fee_minor: null,
  authorization: null,
  redirect_url: 'http://127.0.0.1/pay/1',
};
const left = {
  authorization: 'authz_1',
  type: 'card',
  brand: 'verve',
  last4: '4081',
  expiry_month: 11,
  expiry_year: 2029,
  bank_code: null,
  bank_name: null,
  reusable: true,
};
const refunded = {
  refund: 'rfnd_1',
  charge: 'r',
  merchant_note: 'm',
  status: 'refunded',
  amount_minor: 100,
  currency: 'NGN',
  code: null,
};

const disputed = {
  dispute: 'case_1',
  charge: 'r',
  status: 'opened',
  funds: 'held',
  amount_minor: 100,
  currency: 'NGN',
  reason: 'not_recognized',
  due_at: null,
};

describe('answers that the acquirer’s documentation excludes', () => {
  let answer: { status: number; body: string };
  const server = createServer((req, res) => {
    req.resume();
    res.writeHead(answer.status).end(answer.body);
  });
  let url: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = {
    reference: 'r',
    clientReference: 'order-1',
    amountMinor: 100n,
    currency: 'NGN' as const,
    customer: { id: 'c', email: 'ada@example.com', name: null },
    requestedAt: new Date(),
  };
  const r = { reference: 'r', handle: null };
  const find = { ...r, since: new Date(), cursor: null };
  const saved = { method: 'authz_1', returnUrl: null, handle: null };
  const page = { ...ask, channel: { type: 'card' as const }, returnUrl: null };
  const refund = {
    charge: { reference: 'r', handle: null },
    amountMinor: 100n,
    currency: 'NGN' as const,
    marker: 'm',
    clientReference: 'refund-1',
    requestedAt: new Date(),
  };
  const error = (code: string) => JSON.stringify({ error: { code } });
  const answers = (status: number, body: unknown) => {
    answer = { status, body: JSON.stringify(body) };
    return paymentsAt(url);
  };

  const everyCall = () => {
    const payments = paymentsAt(url);
    return Promise.all([
      payments.openPage(page, never),
      payments.confirmCharge({ ...ask, ...saved }, never),
      payments.verifyCharge(r, never),
      payments.refund(refund, never),
      payments.findRefunds(find, never),
      payments.revokeMethod({ code: 'authz_1' }, never),
    ]);
  };

  test.each([
    ['a 502 of a proxy', 502, '<html>', 'server_error'],
    ['HTML', 200, '<html>', 'unreadable'],
    ['nothing', 200, '', 'unreadable'],
    ['another charge', 200, JSON.stringify({ ...paid, reference: 'other' }), 'unreadable'],
    ['another refund', 200, JSON.stringify({ ...refunded, merchant_note: 'x' }), 'unreadable'],
    ['a bare 404', 404, '{}', 'unreadable'],
    ['a 404 of another kind', 404, error('no_such_route'), 'unreadable'],
    ['a wrong secret', 401, error('unauthorized'), 'unreadable'],
    ['a redirect', 302, '{}', 'unreadable'],
  ])('%s is unknown to every call', async (_what, status, body, reason) => {
    answer = { status, body };
    for (const each of await everyCall()) expect(each).toMatchObject({ kind: 'unknown', reason });
  });

  test('a reference that the acquirer has already is a conflict to a submission, and a new word is unrecognized', async () => {
    answer = { status: 409, body: error('reference_taken') };
    const [opened, , , refundedNow] = await everyCall();
    for (const each of [opened, refundedNow]) {
      expect(each).toMatchObject({ kind: 'unknown', reason: 'conflict' });
    }
    const odd = await answers(200, { ...paid, status: 'held' }).verifyCharge(r, never);
    expect(odd).toMatchObject({ kind: 'unknown', reason: 'unrecognized' });
  });

  test.each([
    ['an inexact amount', { ...paid, paid_minor: 0.5 }],
    ['a fee as a text', { ...paid, fee_minor: '1' }],
    ['a decline that is neither soft nor hard', { ...paid, status: 'declined', decline: 'odd' }],
    ['a card number for an authorization', withLeft({ authorization: '4242424242424242' })],
    ['six digits for the last four', withLeft({ last4: '424242' })],
  ])('%s is not let in', async (_what, body) => {
    const state = await answers(200, body).verifyCharge(r, never);
    expect(state).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
  });

  test('a payment in another currency is reported with that currency', async () => {
    const state = await answers(200, { ...paid, currency: 'USD' }).verifyCharge(r, never);
    expect(state).toMatchObject({ kind: 'succeeded', currency: 'USD' });
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'pay', ''])(
    'the address %j is no page',
    async (redirect_url) => {
      const state = await answers(200, { ...paid, redirect_url }).openPage(page, never);
      expect(state).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
    },
  );

  test('a list with a dispute of another charge is not believed', async () => {
    const list = { charge: 'r', disputes: [disputed, { ...disputed, charge: 'other' }] };
    expect(await answers(200, list).findDisputes(find, never)).toMatchObject({ kind: 'unknown' });
  });

  test('a payment refusal with an unknown reason is a refusal with a code of ours', async () => {
    const code = 'it said: 4242';
    const declined = { ...paid, status: 'declined', code, decline: 'soft' };
    expect(await answers(200, declined).verifyCharge(r, never)).toMatchObject({
      kind: 'declined',
      code: 'provider_declined',
      decline: 'soft',
    });
    const refused = { ...refunded, status: 'refused', code };
    expect(await answers(201, refused).refund(refund, never)).toMatchObject({
      refund: { state: 'rejected', code: 'provider_declined' },
    });
  });

  test('a 429 of the acquirer is a pause for a submission, and unknown for a verification', async () => {
    answer = { status: 429, body: 'slow down' };
    const kinds = (await everyCall()).map(({ kind }) => kind);
    expect(kinds).toEqual([
      'throttled',
      'throttled',
      'unknown',
      'throttled',
      'unknown',
      'throttled',
    ]);
  });
});

function withLeft(change: Record<string, unknown>) {
  return { ...paid, authorization: { ...left, ...change } };
}

describe('callbacks of the payment network', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const event = {
    id: 'evt_1',
    event: 'charge.paid',
    occurred_at: '2026-11-20T09:00:00Z',
    data: withLeft({}),
  };
  const read = (content: unknown, signedAt = now) => {
    const body = typeof content === 'string' ? content : JSON.stringify(content);
    const timestamp = String(signedAt.getTime() / 1000);
    const signature = createHmac('sha512', SECRET).update(`${timestamp}.${body}`).digest('hex');
    const headers = {
      'x-sandbox-bank-timestamp': timestamp,
      'x-sandbox-bank-signature': signature,
    };
    return paymentsAt('http://127.0.0.1:1').readMessage(Buffer.from(body), headers, now);
  };
  /** The provider's type of a message, if it has one. */
  const nameIn = (content: unknown) =>
    (typeof content === 'object' && (content as { event?: string }).event) || null;
  const minutes = (n: number) => new Date(now.getTime() + n * 60_000);

  test.each([
    ['charge.paid', event.data, { kind: 'succeeded', amountMinor: 100n }],
    ['charge.pending', { reference: 'r', status: 'pending' }, { awaits: 'provider' }],
    ['charge.cancelled', { reference: 'r', status: 'cancelled' }, { kind: 'cancelled' }],
    ['charge.abandoned', { reference: 'r', status: 'abandoned' }, { kind: 'abandoned' }],
    [
      'charge.declined',
      { reference: 'r', status: 'declined', code: 'expired_card', decline: 'hard' },
      { kind: 'declined', code: 'expired_card', decline: 'hard' },
    ],
  ])('%s is read', (name, data, state) => {
    expect(read({ ...event, event: name, data })).toMatchObject({
      kind: 'event',
      event: {
        dedupeKey: 'evt_1',
        reference: 'r',
        name,
        about: { subject: 'charge', state },
        occurredAt: new Date(event.occurred_at),
      },
    });
  });

  test.each([
    ['refunded', null, { state: 'succeeded' }],
    ['pending', null, { state: 'pending' }],
    ['needs_account', null, { state: 'needs_account' }],
    ['returned', null, { state: 'returned' }],
    ['refused', 'declined', { state: 'rejected', code: 'provider_declined' }],
  ])('refund.%s is read', (status, code, readAs) => {
    const data = { ...refunded, status, code };
    expect(read({ ...event, event: `refund.${status}`, data })).toMatchObject({
      event: { reference: 'r', about: { subject: 'refund', refund: { id: 'rfnd_1', ...readAs } } },
    });
  });

  test('a signature is good for five minutes either way', () => {
    expect(read(event, minutes(-5)).kind).toBe('event');
    expect(read(event, minutes(5)).kind).toBe('event');
    expect(read(event, minutes(-5.1)).kind).toBe('bad_signature');
    expect(read(event, minutes(5.1)).kind).toBe('bad_signature');
  });

  test('an event of a transfer is left to its port, one of an unknown type is unreadable under its id', () => {
    const transfer = { ...event, event: 'transfer.paid', data: null };
    expect(read(transfer)).toEqual({
      kind: 'other_port',
      dedupeKey: 'evt_1',
      name: 'transfer.paid',
    });
    const unreadable = { kind: 'unreadable', dedupeKey: 'evt_1' };
    for (const name of ['charge.frozen', 'constructor']) {
      expect(read({ ...event, event: name, data: null })).toEqual({ ...unreadable, name });
    }
    expect(read({ ...event, event: 'charge.frozen' })).toMatchObject(unreadable);
  });

  test.each([
    'not json',
    'null',
    {},
    { ...event, data: { ...event.data, paid_minor: '100' } },
    { ...event, data: withLeft({ authorization: '4242424242424242' }) },
    { ...event, event: 'charge.declined' },
    { ...event, event: 'refund.refunded' },
    { ...event, event: 'refund.refused', data: refunded },
  ])('an authentic body that cannot be read is unreadable under its hash: %j', (content) => {
    expect(read(content)).toEqual({
      kind: 'unreadable',
      name: nameIn(content),
      dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });
});
