import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPaystackBanks } from '../../src/core/providers/paystack/banks.js';
import { createPaystackClient } from '../../src/core/providers/paystack/client.js';
import type { PaystackSettings } from '../../src/shared/paystack-settings.js';
import type { PaystackOptions } from '../fakes/paystack/context.js';
import { startPaystack } from '../fakes/paystack/server.js';

/** The e-mail domain of the customers that the adapters make. */
export const CUSTOMER_DOMAIN = 'accounts.example.com';
export const KEY = 'sk_test_inventedkey0000';
export const never = new AbortController().signal;

/** Settings of an adapter for a server of ours. */
export const settingsFor = (url: string, timeoutMs = 2_000): PaystackSettings => ({
  keys: [KEY],
  domain: 'test',
  url,
  isOfficial: false,
  timeoutMs,
  callsPerSecond: null,
  customerDomain: CUSTOMER_DOMAIN,
  preferredBank: null,
  floatAlertMinor: 0n,
});

/** The list of banks at a server of ours. */
export const banksFor = (settings: PaystackSettings) =>
  createPaystackBanks(createPaystackClient(settings));

/** A fake with a folder of its own, which is removed with it. */
export async function startFake(options: Partial<PaystackOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'paystack-fake-'));
  const recordTo = process.env['PAYSTACK_RECORD_REQUESTS'];
  const fake = await startPaystack({ dataDir: folder, keys: [KEY], recordTo, ...options });
  return {
    ...fake,
    async close(): Promise<void> {
      await fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A received message. */
type Received = { raw: Buffer; headers: Record<string, string | undefined>; event: string };

/** A receiver of messages, which accepts them all. */
export async function startReceiver() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const headers = request.headers as Received['headers'];
      received.push({ raw, headers, event: (JSON.parse(raw.toString()) as Received).event });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A fake that sends its messages to a receiver. */
export async function startFakeWithReceiver() {
  const receiver = await startReceiver();
  const fake = await startFake({ webhookUrl: receiver.url });
  return {
    fake,
    receiver,
    async close(): Promise<void> {
      await fake.close();
      receiver.close();
    },
  };
}

/** Limits of calls: of those that the server ends by itself, and of those that wait for nothing. */
const [ENDED_MS, ENDLESS_MS] = [5_000, 1_500];

/** The ends of a connection that answer no request, each with a time-out for its calls. */
export const ENDINGS: [string, (socket: Socket) => void, number][] = [
  ['a reset', (socket) => socket.resetAndDestroy(), ENDED_MS],
  ['an orderly end', (socket) => void socket.end(), ENDED_MS],
  [
    'a 500',
    (socket) => void socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 99\r\n\r\n{'),
    ENDLESS_MS,
  ],
  [
    'a 409',
    (socket) => void socket.write('HTTP/1.1 409 No\r\ncontent-length: 2\r\n\r\n{}'),
    ENDED_MS,
  ],
  [
    'a redirect',
    (socket) =>
      void socket.write('HTTP/1.1 307 There\r\nlocation: /transfer\r\ncontent-length: 2\r\n\r\n{}'),
    ENDED_MS,
  ],
  ['silence', () => undefined, ENDLESS_MS],
  [
    'half a body',
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{'),
    ENDLESS_MS,
  ],
  [
    'a slow body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n{');
      const timer = setInterval(() => socket.write(' '), 10);
      socket.on('close', () => clearInterval(timer));
    },
    ENDLESS_MS,
  ],
  [
    'a 100 and then a 500',
    (socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\n{}');
    },
    ENDED_MS,
  ],
];

/**
 * A server that reads whole requests, counts them, and ends each connection in its way. A request to which `answerTo` has the
 * data of an answer, by its first line, gets that and does not count.
 */
export async function startCounter(
  end: (socket: Socket) => void,
  answerTo: (line: string) => object | undefined = () => undefined,
) {
  let requests = 0;
  let throttled = 0;
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    let seen = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      const whole = /^(GET|POST|PUT|DELETE) .*\r\n\r\n/s.test(seen) && isWhole(seen);
      if (!whole) return;
      const data = answerTo(seen.split('\r\n')[0] ?? '');
      seen = '';
      if (data !== undefined) {
        const body = JSON.stringify({ status: true, message: 'Found', data });
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        return;
      }
      if (throttled > 0) {
        throttled -= 1;
        socket.write('HTTP/1.1 429 Slower\r\ncontent-length: 2\r\n\r\n{}');
        return;
      }
      requests += 1;
      end(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    /** The next requests get a whole 429, which keeps their connections, and do not count. */
    throttle: (next: number) => void (throttled = next),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function isWhole(request: string): boolean {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return Buffer.byteLength(body) >= length;
}
