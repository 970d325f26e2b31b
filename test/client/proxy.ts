import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The fault of one attempt: its answer is lost, it is never answered, or another server answers. */
export type Fault =
  'lose' | 'hang' | { status: number; headers?: Record<string, string>; body?: string };

/** An attempt that reached the proxy. */
export type Attempt = { method: string; path: string; key: string | null };

/** Starts a proxy between a client and an API. Each attempt gets the next of `faults`. */
export async function startProxy(target: string) {
  const faults: Fault[] = [];
  const attempts: Attempt[] = [];

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const body = await buffer(request);
    const key = headers['idempotency-key'];
    attempts.push({ method, path, key: typeof key === 'string' ? key : null });
    const fault = faults.shift();
    if (fault === 'hang') return;
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '<html>');
      return;
    }
    const names = ['authorization', 'content-type', 'idempotency-key', 'prefer'];
    const sent = names.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : []));
    const answer = await fetch(target + path, {
      method,
      headers: Object.fromEntries(sent),
      ...(method !== 'GET' && { body }),
    });
    const text = await answer.text();
    if (fault === 'lose') response.destroy();
    else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
  }

  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sets the faults of the next attempts, and forgets earlier attempts. */
    failNext(...next: Fault[]): void {
      faults.splice(0, faults.length, ...next);
      attempts.length = 0;
    },
    attempts,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A running proxy. */
export type Proxy = Awaited<ReturnType<typeof startProxy>>;
