import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createSandboxBankAccounts } from '../../src/core/providers/sandbox-bank/account-adapter.js';
import { createSandboxBankProvider } from '../../src/core/providers/sandbox-bank/adapter.js';
import { createSandboxBankBills } from '../../src/core/providers/sandbox-bank/bill-adapter.js';
import { createSandboxBankIssuer } from '../../src/core/providers/sandbox-bank/card-adapter.js';
import { createSandboxBankIdentity } from '../../src/core/providers/sandbox-bank/identity-adapter.js';
import { createSandboxBankPayments } from '../../src/core/providers/sandbox-bank/payment-adapter.js';

const BEGINNING =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"a';

/** The ends of an exchange after the server has read a whole request. */
const ENDS: Record<string, (socket: Socket) => void> = {
  reset: (socket) => void socket.resetAndDestroy(),
  'connection closed': (socket) => void socket.end(),
  500: (socket) => void socket.end(response('500 Internal Server Error', '{}')),
  409: (socket) => void socket.end(response('409 Conflict', '{}')),
  'redirect 307': (socket) =>
    void socket.end(response('307 Temporary Redirect', '{}', 'location: /elsewhere\r\n')),
  '100 Continue, then 500': (socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    socket.end(response('500 Internal Server Error', '{}'));
  },
  'half an answer': (socket) => void socket.write(BEGINNING),
  'a slow body': (socket) => {
    socket.write(BEGINNING);
    const timer = setInterval(() => socket.write('a'), 10);
    socket.on('close', () => clearInterval(timer));
  },
  'no answer': () => undefined,
};
/** The caller gives up these exchanges so long after the server has read the request. */
const NEVER_END = new Set(['half an answer', 'a slow body', 'no answer']);
const GIVEN_UP_AFTER_MS = 50;

const response = (status: string, body: string, headers = '') =>
  `HTTP/1.1 ${status}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;

let server: Server;
let end: (socket: Socket) => void = () => undefined;
let requests = 0;
let answersFirst = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    let read = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      read += chunk.toString('latin1');
      const [head = '', body = ''] = read.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (!read.includes('\r\n\r\n') || body.length < length) return;
      read = '';
      requests += 1;
      if (answersFirst > 0) {
        answersFirst -= 1;
        socket.write(response('429 Too Many Requests', '{}'));
      } else end(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const options = () => ({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  secret: 'a secret of the tests',
  deduplicates: true,
  deduplicatesForMs: null,
  conclusiveAfterMs: 1_000,
  prepares: true,
  timeoutMs: 60_000,
  callsPerSecond: 100,
});

const requestedAt = new Date();
const common = { clientReference: 'c', currency: 'NGN' as const, amountMinor: 100n, requestedAt };
const customer = { id: 'cus', email: 'ada@example.org', name: null };
const recipient = { account: '0123456789', bankCode: '058', name: null };
const transfer = { ...common, reference: 'trf_1', recipient, narration: 'n' };
const charge = { ...common, reference: 'chg_1-1', customer, returnUrl: null };

/** Every call that may move money, of every adapter. */
function submissions(): [string, (signal: AbortSignal) => Promise<unknown>][] {
  const bank = createSandboxBankProvider(options());
  const issuer = createSandboxBankIssuer(options());
  const payments = createSandboxBankPayments(options());
  const funding = { ...common, reference: 'cop_1', card: 'card' };
  const refund = { ...common, charge: { reference: 'chg_1-1', handle: null }, marker: 'ref_1' };
  return [
    ['prepare a transfer', async (signal) => bank.prepare?.(transfer, signal)],
    ['submit a transfer', (signal) => bank.submit(transfer, signal)],
    [
      'cancel a transfer',
      async (signal) => bank.cancel?.({ reference: 'trf_1', handle: 'h' }, signal),
    ],
    [
      'issue a card',
      (signal) =>
        issuer.issue(
          { reference: 'crd_1', clientReference: 'c', type: 'virtual', name: null, requestedAt },
          signal,
        ),
    ],
    ['fund a card', (signal) => issuer.fund(funding, signal)],
    ['unload a card', async (signal) => issuer.unload?.(funding, signal)],
    [
      'dispute a payment',
      async (signal) =>
        issuer.submitDispute?.(
          { ...funding, token: 'auth_1', reason: 'fraud', explanation: 'Not ours' },
          signal,
        ),
    ],
    [
      'withdraw a dispute',
      async (signal) => issuer.withdrawDispute?.({ reference: 'cop_1', handle: null }, signal),
    ],
    [
      'reverse a funding',
      (signal) => issuer.reverseFunding({ reference: 'cop_1', handle: null }, signal),
    ],
    [
      'set the state of a card',
      (signal) =>
        issuer.setState(
          { card: 'card', state: 'locked', version: 1, clientReference: 'c', requestedAt },
          signal,
        ),
    ],
    [
      'open a page',
      (signal) => payments.openPage({ ...charge, channel: { type: 'card' } }, signal),
    ],
    [
      'prepare a charge',
      async (signal) => payments.prepareCharge?.({ ...charge, method: 'aut' }, signal),
    ],
    [
      'confirm a charge',
      (signal) => payments.confirmCharge({ ...charge, method: 'aut', handle: null }, signal),
    ],
    [
      'pay a bill',
      (signal) =>
        createSandboxBankBills(options()).submit(
          { ...common, reference: 'bil_1', billerId: 'b', itemId: 'i', customerReference: '1' },
          signal,
        ),
    ],
    [
      'open a page that saves a method',
      async (signal) =>
        payments.setUp?.({ ...charge, reference: 'stp_1', channel: { type: 'card' } }, signal),
    ],
    [
      'cancel a charge',
      async (signal) => payments.cancelCharge?.({ reference: 'chg_1-1', handle: null }, signal),
    ],
    ['refund a charge', (signal) => payments.refund(refund, signal)],
    [
      'continue a refund with an account',
      async (signal) =>
        payments.resumeRefund?.(
          { id: 'rfd_1', account: { account: '0123456789', bankCode: '058' } },
          signal,
        ),
    ],
    ['revoke a method', (signal) => payments.revokeMethod({ code: 'aut' }, signal)],
    ...accountSubmissions(),
    [
      'start an identity check',
      (signal) =>
        createSandboxBankIdentity(options()).startCheck(
          {
            reference: 'kyc_1',
            customer: 'cus',
            checkType: 'nin',
            subject: { firstName: 'A', lastName: 'O', dateOfBirth: null, number: '12345678901' },
            requestedAt,
          },
          signal,
        ),
    ],
  ];
}

/** The same, of the provider of virtual accounts. */
function accountSubmissions(): ReturnType<typeof submissions> {
  const accounts = createSandboxBankAccounts(options());
  const holder = { id: 'cus', name: 'Ada Obi', email: null, phone: null };
  const wished = { holder, accountName: 'Ada Obi', bankCode: null, currency: 'NGN' as const };
  return [
    [
      'assign an account',
      (signal) => accounts.assign({ ...wished, reference: 'vac_1', requestedAt }, signal),
    ],
    [
      'close an account',
      (signal) => accounts.close({ reference: 'vac_1', handle: 'h', requestedAt }, signal),
    ],
    [
      'ask for the deposits of a day',
      async (signal) =>
        accounts.requery?.({ accountNumber: '0123456789', handle: 'h', day: '2026-01-01' }, signal),
    ],
    [
      'return a deposit',
      async (signal) =>
        accounts.returnDeposit?.(
          { id: 'd', amountMinor: 100n, marker: 'dep_1', orderedAt: requestedAt, requestedAt },
          signal,
        ),
    ],
  ];
}

const never = new AbortController().signal;

describe.each(Object.keys(ENDS))('one permit is one request, whatever the end: %s', (name) => {
  test.each(['a new connection', 'a kept connection'])('%s', async (connection) => {
    for (const [call, submit] of submissions()) {
      if (connection === 'a kept connection') {
        answersFirst = 1;
        await submit(never);
      }
      requests = 0;
      const givenUp = new AbortController();
      end = (socket) => {
        ENDS[name]?.(socket);
        if (NEVER_END.has(name)) setTimeout(() => givenUp.abort(), GIVEN_UP_AFTER_MS);
      };
      const answer = await submit(givenUp.signal);
      expect([call, requests]).toEqual([call, 1]);
      expect([call, answer]).toEqual([call, expect.objectContaining({ kind: 'unknown' })]);
    }
  });
});

test('nothing is sent after the signal was aborted', async () => {
  requests = 0;
  for (const [, submit] of submissions()) {
    expect(await submit(AbortSignal.abort())).toMatchObject({ kind: 'unknown' });
  }
  expect(requests).toBe(0);
});
