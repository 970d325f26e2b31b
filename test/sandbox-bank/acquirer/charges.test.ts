import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import { acquirerClient, submitForm, type ChargeBody, type AcquirerClient } from './support.js';
import {
  bankClient,
  eventually,
  removeFolder,
  SECRET,
  startReceiver,
  staysSilent,
  temporaryFolder,
} from '../support.js';

let folder: string;
let service: Awaited<ReturnType<typeof startReceiver>>;
let bank: RunningSandboxBank;
let client: AcquirerClient;
let authorization: string;

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startReceiver();
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, callbackUrl: service.url });
  client = acquirerClient(bankClient(bank.url));
  authorization = await client.newAuthorization();
});

afterAll(async () => {
  await bank.close();
  await service.close();
  removeFolder(folder);
});

const charge = async (suffix: string, changes: Record<string, unknown> = {}) => {
  const request = client.chargeRequest(authorization, suffix, changes);
  return { request, ...(await client.charge(request)) };
};

describe('a charge without the customer', () => {
  test('any other reference: paid at once, less a fee, and repeated with the same answer', async () => {
    const { request, status, body } = await charge('789');
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'paid',
      paid_minor: 300_000,
      fee_minor: 14_500,
      authorization: { authorization, last4: '4081', reusable: true },
    });
    expect((await client.lookup(request.reference)).body).toEqual(body);
    expect((await client.charge(request)).body).toEqual(body);
    for (const change of [{ amount_minor: 1 }, { authorization: 'x' }, { client_reference: 'x' }]) {
      const { body: conflict } = await client.charge({ ...request, ...change });
      expect(conflict.error?.code).toBe('reference_conflict');
    }
    expect(await client.effects({ reference: request.reference })).toEqual([
      expect.objectContaining({
        kind: 'charged',
        client_reference: request.client_reference,
        amount_minor: 300_000,
      }),
    ]);
  });

  test('one reference is charged once, however many come at a time', async () => {
    const request = client.chargeRequest(authorization);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.charge(request)));
    expect(answers.every(({ body }) => body.status === 'paid')).toBe(true);
    expect(await client.kinds(request.reference)).toEqual(['charged']);
  });

  test('001: later, and reported by callback only', async () => {
    const { request, body } = await charge('001');
    expect(body).toMatchObject({ status: 'pending', paid_minor: null, authorization: null });
    const [callback] = await service.wait(request.reference, 1);
    expect(callback?.body).toMatchObject({
      event: 'charge.paid',
      data: { status: 'paid', paid_minor: 300_000, client_reference: request.client_reference },
    });
    await eventually(async () =>
      (await client.lookup(request.reference)).body.status === 'paid' ? true : undefined,
    );
    expect(await client.kinds(request.reference)).toEqual(['charged']);
  });

  test.each([
    ['002', 'card_declined', 'hard'],
    ['003', 'insufficient_funds', 'soft'],
  ])('%s is declined (%s, %s), also at another attempt', async (suffix, code, decline) => {
    const { request, body } = await charge(suffix);
    expect(body).toMatchObject({ status: 'declined', code, decline, paid_minor: null });
    const again = client.chargeRequest(authorization, '', {
      client_reference: request.client_reference,
    });
    expect((await client.charge(again)).body).toMatchObject({ status: 'declined', code, decline });
    for (const { reference } of [request, again]) expect(await client.kinds(reference)).toEqual([]);
  });

  test('013: declined softly twice, each attempt under its own reference, then paid', async () => {
    const { request, body } = await charge('013');
    const repeated = await client.charge(request);
    const attempts: ChargeBody[] = [];
    for (const _ of [2, 3, 4]) {
      const next = client.chargeRequest(authorization, '', {
        client_reference: request.client_reference,
      });
      attempts.push((await client.charge(next)).body);
    }
    expect([body, repeated.body, ...attempts].map(({ status }) => status)).toEqual([
      'declined',
      'declined',
      'declined',
      'paid',
      'paid',
    ]);
    expect(body.decline).toBe('soft');
    const other = await client.newAuthorization();
    const theirs = client.chargeRequest(other, '', { client_reference: request.client_reference });
    expect((await client.charge(theirs)).body.status).toBe('declined');
  });

  test('004: charged, but the answer never comes; 005: neither', async () => {
    for (const [suffix, kinds] of [
      ['004', ['charged']],
      ['005', []],
    ] as const) {
      const request = client.chargeRequest(authorization, suffix);
      for (const _ of [1, 2]) {
        expect(await staysSilent((init) => client.charge(request, init))).toBe(true);
      }
      expect(await client.kinds(request.reference)).toEqual(kinds);
      const { status } = await client.lookup(request.reference);
      expect(status).toBe(suffix === '004' ? 200 : 404);
    }
  });

  test('006: pending until the outcome is set, by either reference', async () => {
    const first = (await charge('006')).request;
    const second = (await charge('006')).request;
    expect((await client.lookup(first.reference)).body.status).toBe('pending');
    expect((await client.reportOutcome(first.reference, { outcome: 'abandoned' })).status).toBe(
      409,
    );
    expect((await client.reportOutcome(first.reference, { outcome: 'paid' })).body.status).toBe(
      'paid',
    );
    expect((await client.reportOutcome(first.reference, { outcome: 'paid' })).status).toBe(200);
    expect((await client.reportOutcome(first.reference, { outcome: 'declined' })).status).toBe(409);
    const { body } = await client.reportOutcome(second.client_reference, { outcome: 'declined' });
    expect(body).toMatchObject({ status: 'declined', decline: 'hard' });
    const [paid] = await service.wait(first.reference, 1);
    const [declined] = await service.wait(second.reference, 1);
    expect([paid?.body.event, declined?.body.event]).toEqual(['charge.paid', 'charge.declined']);
    expect((await client.reportOutcome('nowhere', { outcome: 'paid' })).status).toBe(404);
  });

  test('007: three times 500, then paid; 010: 429 first', async () => {
    for (const [suffix, statuses] of [
      ['007', [500, 500, 500, 201]],
      ['010', [429, 201]],
    ] as const) {
      const request = client.chargeRequest(authorization, suffix);
      for (const status of statuses) expect((await client.charge(request)).status).toBe(status);
      expect(await client.kinds(request.reference)).toEqual(['charged']);
    }
  });

  test('009: reported three times and out of order, charged once', async () => {
    const { request, body } = await charge('009');
    expect(body.status).toBe('pending');
    const callbacks = await service.wait(request.reference, 4);
    const reported = callbacks.map(({ body: { event } }) => event);
    expect(reported).toEqual(['charge.paid', 'charge.pending', 'charge.paid', 'charge.paid']);
    expect(new Set(callbacks.map(({ body: { id } }) => id)).size).toBe(3);
    expect(callbacks[1]?.body.data).toMatchObject({ status: 'pending', paid_minor: null });
    expect(await client.kinds(request.reference)).toEqual(['charged']);
  });

  test('014: half of it is paid', async () => {
    const { request, body } = await charge('014', { amount_minor: 99_999 });
    expect(body).toMatchObject({ status: 'paid', amount_minor: 99_999, paid_minor: 50_000 });
    const [effect] = await client.effects({ reference: request.reference });
    expect(effect?.amount_minor).toBe(50_000);
  });

  test.each([
    [1, 0],
    [249_999, 3_749],
    [250_000, 13_750],
    [12_666_667, 200_000],
    [9_007_199_254_740_991, 200_000],
  ])('the fee of %s is %s', async (amount_minor, fee_minor) => {
    expect((await charge('789', { amount_minor })).body).toMatchObject({ fee_minor });
  });
});

describe('an authorization', () => {
  test.each([
    ['later_low_funds', ['declined', 'declined', 'declined'], 'insufficient_funds', 'soft'],
    ['later_low_funds_twice', ['declined', 'declined', 'paid'], 'insufficient_funds', 'soft'],
    ['later_declined', ['declined', 'declined', 'declined'], 'card_declined', 'hard'],
    ['later_expired', ['declined', 'declined', 'declined'], 'expired_card', 'hard'],
    ['once', ['declined', 'declined', 'declined'], 'authorization_not_reusable', 'hard'],
  ])('of the test card %s decides its later charges', async (choice, statuses, code, decline) => {
    const left = await client.newAuthorization(choice);
    // Its own end must choose nothing: that of an authorization is random.
    const client_reference = `renewal-of-${left}-789`;
    const answers: ChargeBody[] = [];
    for (const _ of statuses) {
      const request = client.chargeRequest(left, '', { client_reference });
      answers.push((await client.charge(request)).body);
    }
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    expect(answers[0]).toMatchObject({ code, decline });
    // A reference that says something wins, save where nothing may be charged at all.
    const lost = client.chargeRequest(left, '006');
    const { body } = await client.charge(lost);
    expect(body.status).toBe(choice === 'once' ? 'declined' : 'pending');
  });

  test('of the test card later_confirmed asks the customer to confirm each later charge on a page', async () => {
    const left = await client.newAuthorization('later_confirmed');
    for (const choice of ['good', 'stolen']) {
      const request = client.chargeRequest(left);
      const { body } = await client.charge(request);
      expect(body.status).toBe('awaiting_customer');
      await submitForm(body.redirect_url ?? '', { action: 'pay', choice });
      const { status } = (await client.lookup(request.reference)).body;
      expect(status).toBe(choice === 'good' ? 'paid' : 'declined');
    }
  });

  test('a revoked authorization charges nothing, and may be revoked repeatedly', async () => {
    const { url, reference } = await client.newPage();
    await submitForm(url, { action: 'pay', choice: 'good' });
    const left = (await client.lookup(reference)).body.authorization?.authorization ?? '';
    const before = client.chargeRequest(left);
    await client.charge(before);
    for (const _ of [1, 2]) {
      expect((await client.revoke(left)).body).toEqual({ authorization: left, revoked: true });
    }
    const { body } = await client.charge(client.chargeRequest(left));
    expect(body).toMatchObject({ code: 'authorization_revoked', decline: 'hard' });
    expect(await client.kinds(reference)).toEqual(['charged', 'authorization_revoked']);
    expect((await client.charge(before)).body.status).toBe('paid');
  });

  test('an unknown authorization is declined, and cannot be revoked', async () => {
    const { body } = await client.charge(client.chargeRequest('authz_nowhere'));
    expect(body).toMatchObject({ status: 'declined', code: 'authorization_not_found' });
    expect((await client.revoke('authz_nowhere')).status).toBe(404);
  });
});

test('a fault rule resets the connection after the charge, or before the refund', async () => {
  const switches = bankClient(bank.url);
  const rule = { probability: 1 };
  const request = client.chargeRequest(authorization);
  const refund = client.refundRequest(request.reference);
  await switches.faults({
    seed: 1,
    rules: [
      { call: 'charge', kind: 'drop_after', ...rule },
      { call: 'refund', kind: 'drop_before', ...rule },
      { call: 'revoke', kind: 'error_500', ...rule },
      { call: 'initialize', kind: 'throttle', ...rule },
    ],
  });
  try {
    await expect(client.charge(request)).rejects.toThrow();
    await expect(client.refund(refund)).rejects.toThrow();
    expect((await client.revoke(authorization)).status).toBe(500);
    expect((await client.initialize(client.pageRequest())).status).toBe(429);
  } finally {
    await switches.faults({});
  }
  expect(await client.kinds(request.reference)).toEqual(['charged']);
  expect(await client.refunds(request.reference)).toEqual([]);
});

test.each([
  ['reference', { reference: 'a b' }],
  ['amount_minor', { amount_minor: 0 }],
  ['currency', { currency: 'USD' }],
  ['customer.email', { customer: { id: 'c', email: 'no', name: null } }],
  ['card_number', { card_number: '4242' }],
  ['authorization', { authorization: null }],
])('a charge with a bad %s is refused, and names it', async (field, change) => {
  const { status, body } = await client.charge({
    ...client.chargeRequest(authorization),
    ...change,
  });
  expect([status, body.error?.field]).toEqual([400, field]);
});

test('without de-duplication one reference is charged as often as it comes, and an old one is not', async () => {
  const own = temporaryFolder();
  const careless = await startSandboxBank({ dataDir: own, secret: SECRET, deduplicate: false });
  try {
    const network = acquirerClient(bankClient(careless.url));
    const left = await network.newAuthorization();
    const request = network.chargeRequest(left);
    for (const _ of [1, 2]) expect((await network.charge(request)).status).toBe(201);
    expect(await network.kinds(request.reference)).toEqual(['charged', 'charged']);
    const old = { ...request, requested_at: new Date(Date.now() - 6_000).toISOString() };
    expect((await network.charge(old)).body.error?.code).toBe('too_old');
    expect(await network.kinds(request.reference)).toEqual(['charged', 'charged']);
    // Of several charges, the paid one is reported.
    const again = network.chargeRequest('authz_nowhere', '', { reference: request.reference });
    expect((await network.charge(again)).body.status).toBe('declined');
    expect((await network.lookup(request.reference)).body.status).toBe('paid');
    // A page is one page all the same.
    const page = network.pageRequest();
    const urls = [await network.initialize(page), await network.initialize(page)];
    expect(urls[0]?.body.redirect_url).toBe(urls[1]?.body.redirect_url);
  } finally {
    await careless.close();
    removeFolder(own);
  }
});

test('a bank with a fence executes nothing under a reference that was cancelled first, also after a restart', async () => {
  const own = temporaryFolder();
  const start = () =>
    startSandboxBank({ dataDir: own, secret: SECRET, callbackUrl: null, resendSafety: 'fence' });
  let fenced = await start();
  try {
    const network = acquirerClient(bankClient(fenced.url));
    const method = await network.newAuthorization();
    const request = network.chargeRequest(method);
    const cancel = (at: string, reference: string) =>
      bankClient(at).post<ChargeBody>(`/v1/charges/${reference}/cancel`, {});
    expect((await cancel(fenced.url, request.reference)).body.status).toBe('cancelled');
    const paid = network.chargeRequest(method);
    await network.charge(paid);
    expect((await cancel(fenced.url, paid.reference)).body.status).toBe('paid');
    await fenced.close();
    fenced = await start();
    const after = acquirerClient(bankClient(fenced.url));
    expect((await after.charge(request)).body.error?.code).toBe('cancelled');
    expect((await cancel(fenced.url, request.reference)).body.status).toBe('cancelled');
    expect(await after.kinds(request.reference)).toEqual([]);
  } finally {
    await fenced.close();
    removeFolder(own);
  }
});

test('a charge may name the preparation of its authorization, and no other one', async () => {
  const { post } = bankClient(bank.url);
  const prepare = (code: string) =>
    post<{ preparation: string; error?: { code: string } }>('/v1/charge-preparations', {
      authorization: code,
    });
  const { body } = await prepare(authorization);
  expect((await prepare('authz_nowhere')).body.error?.code).toBe('authorization_not_found');
  const other = await charge('789', { preparation: 'prp_other' });
  expect(other.body.error?.code).toBe('unknown_preparation');
  expect(await client.kinds(other.request.reference)).toEqual([]);
  expect((await charge('789', { preparation: body.preparation })).body.status).toBe('paid');
});
