import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSandboxBankProvider } from '../../src/core/providers/sandbox-bank/adapter.js';
import { createSandboxBankBills } from '../../src/core/providers/sandbox-bank/bill-adapter.js';
import { createSandboxBankIssuer } from '../../src/core/providers/sandbox-bank/card-adapter.js';
import { createSandboxBankIdentity } from '../../src/core/providers/sandbox-bank/identity-adapter.js';
import { createSandboxBankPayments } from '../../src/core/providers/sandbox-bank/payment-adapter.js';
import { readSigned } from '../../src/core/providers/sandbox-bank/signed.js';
import { readTransferMessage } from '../../src/core/providers/sandbox-bank/transfer-events.js';
import type { TransferRequest } from '../../src/core/providers/transfer-provider.js';
import { startSandboxBank } from '../../sandbox-bank/server.js';
import {
  bankClient,
  eventually,
  newReference,
  optionsAt,
  removeFolder,
  SECRET,
  startReceiver,
  temporaryFolder,
} from '../sandbox-bank/support.js';
import { describeTransferProvider } from './transfer-provider.js';

const recipient = (suffix: string) => ({ account: `0123456${suffix}`, bankCode: '058' });

const never = new AbortController().signal;
const R = { reference: 'r', handle: null };

const providerAt = (url: string, deduplicates = true, prepares = false) =>
  createSandboxBankProvider({ ...optionsAt(url, deduplicates), prepares });

test('only ports that can cancel say that a cancellation proves absence', () => {
  const options = { ...optionsAt('http://127.0.0.1:1'), resendSafety: 'fence' } as const;
  const payments = createSandboxBankPayments(options).payments;
  expect({
    transfers: createSandboxBankProvider(options).traits.resendSafety.kind,
    charges: payments.charges.kind,
    refunds: payments.refunds.kind,
    cards: createSandboxBankIssuer(options).cards.resendSafety.kind,
    bills: createSandboxBankBills(options).bills.resendSafety.kind,
    identity: createSandboxBankIdentity(options).identity.resendSafety.kind,
  }).toEqual({
    transfers: 'fence',
    charges: 'fence',
    refunds: 'never',
    cards: 'never',
    bills: 'never',
    identity: 'never',
  });
});

for (const deduplicate of [true, false]) {
  describeTransferProvider(`sandbox-bank, de-duplication ${deduplicate}`, async () => {
    const folder = temporaryFolder();
    const receiver = await startReceiver();
    const bank = await startSandboxBank({
      dataDir: folder,
      secret: SECRET,
      deduplicate,
      conclusiveAfterMs: 1_000,
      callbackUrl: receiver.url,
    });
    return {
      // A bank that de-duplicates has its recipients prepared here, and the other one has not.
      provider: providerAt(bank.url, deduplicate, deduplicate),
      unreachable: providerAt('http://127.0.0.1:1', deduplicate, deduplicate),
      recipients: {
        paid: recipient('789'),
        refused: recipient('002'),
        paidLaterByCallback: recipient('001'),
        paidWithoutAnswer: recipient('004'),
        lostWithoutAnswer: recipient('005'),
        throttledFirst: recipient('010'),
        unknownAccount: recipient('003'),
        enquiryWithoutAnswer: recipient('011'),
      },
      refusalCode: 'account_closed',
      ways: {
        outcomes: 'at_once',
        feeMinor: 0n,
        sessionId: /^\d{30}$/,
        repeats: 'first_answer',
      },
      async setBalance(amountMinor) {
        await bankClient(bank.url).post('/_sandbox/float', { amount_minor: Number(amountMinor) });
      },
      async callbackAbout(reference) {
        const [callback] = await receiver.wait(reference, 1);
        if (!callback) throw new Error('no callback');
        return callback;
      },
      async close() {
        await bank.close();
        await receiver.close();
        removeFolder(folder);
      },
    };
  });
}

const order = (changes: Partial<TransferRequest> = {}): TransferRequest => ({
  reference: newReference(),
  clientReference: 'INV-1',
  amountMinor: 100n,
  currency: 'NGN',
  recipient: { ...recipient('789'), name: null },
  narration: '',
  requestedAt: new Date(),
  ...changes,
});

describe('a late order at the sandbox bank without de-duplication', () => {
  test('a late request is unknown: neither a refusal of the transfer nor a reason to submit again', async () => {
    const folder = temporaryFolder();
    const bank = await startSandboxBank({
      dataDir: folder,
      secret: SECRET,
      deduplicate: false,
      conclusiveAfterMs: 1_000,
    });
    const late = order({ requestedAt: new Date(Date.now() - 1_000) });
    const answer = await providerAt(bank.url, false).submit(late, never);
    expect(answer).toMatchObject({ kind: 'unknown', reason: 'too_old' });
    expect(await bankClient(bank.url).journal(late.reference)).toEqual([]);
    await bank.close();
    removeFolder(folder);
  });
});

describe('answers that the bank’s documentation excludes', () => {
  let answer: { status: number; body: string; headers?: Record<string, string> };
  const server = createHttpServer((req, res) => {
    req.resume();
    res.writeHead(answer.status, answer.headers).end(answer.body);
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

  const paid = { reference: 'r', status: 'paid', amount_minor: 100, currency: 'NGN' };

  test.each([
    ['a 502 of a proxy', 502, '<html>', 'server_error'],
    ['a 500 that says refused', 500, '{"status":"refused"}', 'server_error'],
    ['HTML', 200, '<html>', 'unreadable'],
    ['nothing', 200, '', 'unreadable'],
    ['another transfer', 200, JSON.stringify({ ...paid, reference: 'other' }), 'mismatch'],
    ['a new state', 200, JSON.stringify({ ...paid, status: 'held' }), 'unrecognized'],
    ['a fraction', 200, JSON.stringify({ ...paid, amount_minor: 0.5 }), 'unreadable'],
    [
      'an inexact amount',
      200,
      '{"reference":"r","status":"paid","amount_minor":9007199254740993,"currency":"NGN"}',
      'unreadable',
    ],
    ['another currency', 200, JSON.stringify({ ...paid, currency: 'USD' }), 'mismatch'],
    ['a bare 404', 404, '{}', 'unreadable'],
    ['a 404 of another kind', 404, '{"error":{"code":"no_such_route"}}', 'unreadable'],
    ['a wrong secret', 401, '{"error":{"code":"unauthorized"}}', 'unreadable'],
    ['a redirect', 302, '{}', 'unreadable'],
    ['an answer without end', 200, `"${'x'.repeat(2_000_000)}"`, 'unreadable'],
  ])('%s is unknown', async (_what, status, body, reason) => {
    answer = { status, body };
    const provider = providerAt(url);
    const unknown = { kind: 'unknown', reason };
    expect(await provider.verify(R, never)).toMatchObject(unknown);
    expect(await provider.submit(order({ reference: 'r' }), never)).toMatchObject(unknown);
    // Nothing in the answer to an enquiry names a transfer.
    const isAboutTransfers = reason === 'mismatch' || reason === 'unrecognized';
    const silence = { kind: 'no_answer', reason: isAboutTransfers ? 'unreadable' : reason };
    expect(await provider.resolveAccount(recipient('789'), never)).toEqual(silence);
    expect(await provider.listBanks(never)).toEqual(silence);
  });

  test('a transfer refusal with an unknown reason is a refusal with a code of ours', async () => {
    answer = {
      status: 200,
      body: JSON.stringify({ ...paid, status: 'refused', code: 'it said: 0123456789' }),
    };
    expect(await providerAt(url).verify(R, never)).toMatchObject({
      kind: 'rejected',
      code: 'provider_declined',
    });
  });

  test.each([
    ['7', 7_000],
    ['0', 1_000],
    ['soon', 1_000],
    ['999999999', 3_600_000],
    [undefined, 1_000],
  ])('Retry-After %j of any 429 is a pause of %d ms', async (retryAfter, ms) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    answer = { status: 429, body: 'slow down', headers };
    expect(await providerAt(url).submit(order(), never)).toMatchObject({
      kind: 'throttled',
      retryAfterMs: ms,
    });
    expect(await providerAt(url).verify(R, never)).toMatchObject({
      kind: 'unknown',
      reason: 'throttled',
    });
  });
});

describe('the connection of a call that has no answer', () => {
  let accepted: { socket: Socket; received: string; ended: boolean }[];
  let url: string;
  const server = createServer((socket) => {
    const seen = { socket, received: '', ended: false };
    accepted.push(seen);
    socket.on('data', (chunk) => (seen.received += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => (seen.ended = true));
    socket.on('end', () => (seen.ended = true));
  });

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    accepted = [];
  });
  afterEach(() => {
    for (const { socket } of accepted) socket.destroy();
  });
  afterAll(() => server.close());

  const requestsSeen = () =>
    accepted
      .map(({ received }) => received)
      .join('')
      .split('POST /').length - 1;

  test.each([
    ['time-out', ''],
    ['time-out in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{'],
    ['error status', 'HTTP/1.1 503 Wait\r\ncontent-length: 99\r\n\r\n{'],
  ])('is closed, and nothing is sent a second time (%s)', async (_what, reply) => {
    const pending = providerAt(url).submit(order(), never);
    const first = await eventually(() =>
      accepted[0]?.received.includes('\r\n\r\n{') ? accepted[0] : undefined,
    );
    first.socket.write(reply);
    expect(await pending).toMatchObject({ kind: 'unknown' });
    await eventually(() => (first.ended ? true : undefined));
    await sleep(100);
    expect(requestsSeen()).toBe(1);
  });

  test('a reset in the middle is unknown, and nothing is sent a second time', async () => {
    const pending = providerAt(url).submit(order(), never);
    const first = await eventually(() => (accepted[0]?.received ? accepted[0] : undefined));
    first.socket.resetAndDestroy();
    expect(await pending).toMatchObject({ kind: 'unknown', reason: 'connection' });
    await sleep(100);
    expect(requestsSeen()).toBe(1);
  });
});

describe('callbacks of the sandbox bank', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const event = {
    id: 'evt_1',
    event: 'transfer.refused',
    occurred_at: '2026-11-20T09:00:00.000Z',
    data: { reference: 'trf_1', amount_minor: 100, currency: 'NGN', code: 'no_such_account' },
  };
  const read = (body: string, signedAt = now, secret = SECRET) => {
    const timestamp = String(signedAt.getTime() / 1000);
    const signature = createHmac('sha512', secret).update(`${timestamp}.${body}`).digest('hex');
    return readSigned({ secret: SECRET }, readTransferMessage)(
      Buffer.from(body),
      { 'x-sandbox-bank-timestamp': timestamp, 'x-sandbox-bank-signature': signature },
      now,
    );
  };
  const minutes = (n: number) => new Date(now.getTime() + n * 60_000);

  test('an old event with a fresh signature is read; the refusal has our code', () => {
    expect(read(JSON.stringify(event))).toEqual({
      kind: 'event',
      event: {
        dedupeKey: 'evt_1',
        reference: 'trf_1',
        name: 'transfer.refused',
        state: { kind: 'rejected', code: 'invalid_account' },
        occurredAt: new Date(event.occurred_at),
      },
    });
  });

  test('a signature is good for five minutes either way, and only under our secret', () => {
    const body = JSON.stringify(event);
    expect(read(body, minutes(-5)).kind).toBe('event');
    expect(read(body, minutes(5)).kind).toBe('event');
    expect(read(body, minutes(-5.1)).kind).toBe('bad_signature');
    expect(read(body, minutes(5.1)).kind).toBe('bad_signature');
    expect(read(body, now, 'another-secret-altogether').kind).toBe('bad_signature');
  });

  test('an authentic event of an unknown type is unreadable under its id', () => {
    const other = JSON.stringify({ ...event, event: 'loan.granted' });
    expect(read(other)).toEqual({
      kind: 'unreadable',
      dedupeKey: 'evt_1',
      name: 'loan.granted',
    });
  });

  test.each(['charge.paid', 'refund.refunded'])(
    'an authentic event of another port (%s) is left to it, whatever it says',
    (name) => {
      const other = JSON.stringify({ ...event, event: name, data: null });
      expect(read(other)).toEqual({ kind: 'other_port', dedupeKey: 'evt_1', name });
    },
  );

  test.each(['not json', '{}', JSON.stringify({ ...event, data: { reference: 'trf_1' } })])(
    'an authentic body that cannot be read is unreadable under its hash: %s',
    (body) => {
      expect(read(body)).toEqual({
        kind: 'unreadable',
        name: body.startsWith('{"id"') ? 'transfer.refused' : null,
        dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
    },
  );
});
