import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that the receiver got. */
export type Received = {
  path: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes, which a receiver verifies. */
  body: string;
};

/** The body of a webhook. */
export type WebhookView = {
  id: string;
  event: string;
  created_at: string;
  sequence: number;
  data: { id: string; status: string } & Record<string, unknown>;
};

/** The reaction of a receiver to a message: a status, or a function that may do anything, including nothing. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => void);

/** Starts a tenant's server for webhooks. It keeps every message, including those that it refuses. */
export async function startReceiver(behaviour: Behaviour = 204) {
  const received: Received[] = [];
  const state = { behaviour };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const one = { path: request.url ?? '', headers: request.headers, body };
      received.push(one);
      if (typeof state.behaviour === 'number') response.writeHead(state.behaviour).end();
      else state.behaviour(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    /** The events that arrived, parsed; only those of one resource if it is named. */
    events: (resource?: string): WebhookView[] =>
      received
        .map(({ body }) => JSON.parse(body) as WebhookView)
        .filter(({ data }) => resource === undefined || data.id === resource),
    behave: (next: Behaviour) => void (state.behaviour = next),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A running receiver. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Never answers. */
export const hang: Behaviour = () => undefined;
