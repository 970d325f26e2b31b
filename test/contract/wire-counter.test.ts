import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createSandboxBankProvider } from '../../src/core/providers/sandbox-bank/adapter.js';
import { createSandboxBankBills } from '../../src/core/providers/sandbox-bank/bill-adapter.js';
import { createSandboxBankIssuer } from '../../src/core/providers/sandbox-bank/card-adapter.js';
import { createSandboxBankPayments } from '../../src/core/providers/sandbox-bank/payment-adapter.js';

/** The ends of an exchange after the server has read a whole request. */
const ENDS: Record<string, (socket: Socket) => void> = {
  reset: (socket) => void socket.resetAndDestroy(),
  'connection closed': (socket) => void socket.end(),
  500: (socket) => void socket.end(response('500 Internal Server Error', '{}')),
  409: (socket) => void socket.end(response('409 Conflict', '{}')),
  'redirect 307': (socket) =>
    void socket.end(response('307 Temporary Redirect', '{}', 'location: /elsewhere\r\n')),
  'half an answer': (socket) =>
    void socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"a',
    ),
  'no answer': () => undefined,
};

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
  timeoutMs: 150,
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
    ['cancel a transfer', async (signal) => bank.cancel?.('trf_1', signal)],
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
    ['reverse a funding', (signal) => issuer.reverseFunding('cop_1', signal)],
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
    ['refund a charge', (signal) => payments.refund(refund, signal)],
    ['revoke a method', (signal) => payments.revokeMethod({ code: 'aut' }, signal)],
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
      end = ENDS[name] ?? end;
      const answer = await submit(never);
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
