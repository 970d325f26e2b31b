import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Answer } from './answers.js';

/** A request to the fake. `parameter`: the last part of the path, where the route has one. */
export type Request = {
  method: string;
  path: string;
  parameter: string;
  query: Record<string, string>;
  body: Record<string, unknown>;
  /** The address of this server, as the caller wrote it. */
  origin: string;
  authorization: string;
};

type Handle = (request: Request) => Answer | Promise<Answer>;

/** A server that hands each whole request to a function, and writes its answer. */
export function createFakeServer(handle: Handle): Server {
  return createServer((incoming, response) => {
    void read(incoming)
      .then(async (request) => write(response, await handle(request)))
      .catch(() => response.destroy());
  });
}

async function read(incoming: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const origin = `http://${incoming.headers.host ?? 'localhost'}`;
  const url = new URL(incoming.url ?? '/', origin);
  const type = incoming.headers['content-type'] ?? '';
  return {
    method: incoming.method ?? 'GET',
    path: url.pathname,
    parameter: '',
    query: Object.fromEntries(url.searchParams),
    body: parse(Buffer.concat(chunks).toString('utf8'), type),
    origin,
    authorization: incoming.headers.authorization ?? '',
  };
}

function parse(text: string, type: string): Record<string, unknown> {
  if (text === '') return {};
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function write(response: ServerResponse, { status, body, headers = {}, cut }: Answer): void {
  if (cut) return void response.destroy();
  const isText = typeof body === 'string';
  response.writeHead(status, {
    'content-type': isText ? 'text/html' : 'application/json',
    'x-request-id': 'invented-request-id',
    ...headers,
  });
  response.end(isText ? body : JSON.stringify(body));
}
