import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toWireAmount } from '../src/shared/money.js';

/** A call about one transfer, with its time on the clock of this process in milliseconds. */
type Call = { at: number; reference: string };

/** A proxy before the sandbox bank, for which some transfers stay pending. */
export type PendingBank = Awaited<ReturnType<typeof startPendingBank>>;

/**
 * Starts a proxy before the sandbox bank. It answers each question about a transfer of `pending`, all of this amount, with
 * "pending", and keeps the call in `calls`. Everything else goes to the bank.
 */
export async function startPendingBank(bankPort: number, amountMinor: bigint) {
  const calls: Call[] = [];
  const pending = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming;
    const reference = /^\/v1\/transfers\/(\w+)$/.exec(url)?.[1];
    if (method !== 'GET' || reference === undefined || !pending.has(reference)) {
      passOn(bankPort, incoming, outgoing);
      return;
    }
    calls.push({ at: performance.now(), reference });
    const amount_minor = toWireAmount(amountMinor);
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ reference, status: 'pending', amount_minor, currency: 'NGN' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, calls, pending, close };
}

function passOn(port: number, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}
