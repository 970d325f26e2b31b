import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What becomes of an attempt on its way: its answer is lost, it never comes, or something else answers. */
export type Fault =
  'lose' | 'hang' | { status: number; headers?: Record<string, string>; body?: string };

export type Seen = { method: string; path: string; key: string | null };

/** A network between a client and an API that does what networks do. `faults` are met one after the other. */
export async function startProxy(target: string) {
  const faults: Fault[] = [];
  const seen: Seen[] = [];

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const body = await buffer(request);
    const key = headers['idempotency-key'];
    seen.push({ method, path, key: typeof key === 'string' ? key : null });
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
    /** The next attempts meet these; nothing of earlier ones is left. */
    meet(...next: Fault[]): void {
      faults.splice(0, faults.length, ...next);
      seen.length = 0;
    },
    seen,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;
