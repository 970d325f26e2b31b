import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call about a transfer that has reached the bank, or was dropped before it. */
export type BankCall = { at: number; method: string; path: string; reference: string | null };

/** A proxy before the bank that notes the calls about transfers and recipients, and drops them while it is down. */
export async function startBankProxy(bankPort: number) {
  const seen = { calls: [] as BankCall[], down: false };
  const stalls = watchStalls();
  const server: Server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    if (/^\/v1\/(?:transfers|recipients)/.test(url)) {
      const path = url.split('?')[0] ?? '';
      const reference = path.split('/')[3] ?? null;
      seen.calls.push({ at: performance.now(), method, path, reference });
      if (seen.down) return void incoming.socket.destroy();
    }
    const target = { host: '127.0.0.1', port: bankPort, method, path: url, headers };
    const onward = request(target, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seen,
    port: (server.address() as AddressInfo).port,
    /**
     * The most calls in any window of this length, less those that the proxy may have noted too late: calls from before a window
     * count as within it if the event loop of this process was held up meanwhile.
     */
    mostInWindow(calls: readonly BankCall[], seconds: number, rate: number): number {
      let first = 0;
      let most = 0;
      for (const [last, { at }] of calls.entries()) {
        const begin = at - seconds * 1_000;
        while ((calls[first]?.at ?? at) < begin) first += 1;
        const late = (rate * stalls.longestMs(begin, at)) / 1_000;
        most = Math.max(most, last - first + 1 - late);
      }
      return most;
    },
    close(): void {
      stalls.end();
      server.close();
    },
  };
}

const STALL_CHECK_MS = 25;

/** Notes pauses of this process's event loop beyond the interval of the timer that finds them. */
function watchStalls() {
  const stalls: { at: number; ms: number }[] = [];
  let checked = performance.now();
  const check = setInterval(() => {
    const now = performance.now();
    const ms = now - checked - STALL_CHECK_MS;
    if (ms > STALL_CHECK_MS) stalls.push({ at: now, ms });
    checked = now;
  }, STALL_CHECK_MS);
  return {
    /** The longest pause that ended in this time, or so shortly before that its calls were noted in it. */
    longestMs: (from: number, to: number) =>
      Math.max(
        0,
        ...stalls
          .filter(({ at }) => at > from - 2 * STALL_CHECK_MS && at <= to)
          .map(({ ms }) => ms),
      ),
    end: () => clearInterval(check),
  };
}
