import {
  createServer as createNodeServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Koa from 'koa';
import { newId } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import { trackConnections } from './connections.js';
import type { AppState } from './context.js';
import type { Health } from './health.js';
import { uncountedHeaders } from './rate-limit.js';

/** Bounds the time that a client with slow headers or a slow body holds a connection. */
const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
/**
 * Longer than the 60 s after which common load balancers drop idle connections, so that the service never closes first.
 */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16 * 1024;
const DRAIN_WITHIN_MS = 15_000;
const MAX_CONNECTIONS = 10_000;

/** The HTTP server of the API. */
export type HttpServer = {
  /** Starts listening and resolves with the address in use; port 0 picks a free port. */
  listen(at: { host: string; port: number }): Promise<{ host: string; port: number }>;
  /**
   * Stops the server. It reports "not ready" at once, accepts no connection after `noticeMs`, lets requests in progress
   * finish, and closes remaining connections after the time limit. Resolves when everything is closed. A second call
   * waits for the first.
   */
  drain(): Promise<void>;
};

/** Creates the server with its time limits. Every answer is an envelope, including answers to malformed HTTP. */
export function createServer({
  app,
  health,
  log,
  drainWithinMs = DRAIN_WITHIN_MS,
  noticeMs = 0,
  headersWithinMs = HEADERS_WITHIN_MS,
  requestWithinMs = REQUEST_WITHIN_MS,
  maxConnections = MAX_CONNECTIONS,
  onDrop = () => undefined,
}: {
  app: Koa<AppState>;
  health: Pick<Health, 'startDraining'>;
  log: Log;
  drainWithinMs?: number;
  /** Time that a load balancer needs to notice "not ready". */
  noticeMs?: number;
  headersWithinMs?: number;
  requestWithinMs?: number;
  maxConnections?: number;
  /** Called when a connection is closed because there are too many. */
  onDrop?: () => void;
}): HttpServer {
  const handle = app.callback();
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    connections.onRequest(res);
    if (isAddressed(req)) void handle(req, res);
    else sendRefusal(req.socket, UNADDRESSED);
  };
  const server = createNodeServer(
    {
      headersTimeout: headersWithinMs,
      requestTimeout: requestWithinMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: headersWithinMs / 2,
      maxHeaderSize: MAX_HEADER_BYTES,
      // `isAddressed` checks the header instead: it answers with an envelope, and refuses two Host headers too.
      requireHostHeader: false,
    },
    onRequest,
  );
  server.maxConnections = maxConnections;
  server.on('drop', onDrop);
  // The size of the headers is bounded already. With a limit on their number, Node would silently drop headers.
  server.maxHeadersCount = 0;
  // An unknown expectation is ignored: Node would answer 417 without an envelope.
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => answerUnreadable(error, socket));
  // Without a handler, Node would close the connection without an answer.
  server.on('connect', (_req, socket) => sendRefusal(socket, NO_TUNNELS));
  const connections = trackConnections(server);
  let drained: Promise<void> | null = null;

  async function drain(): Promise<void> {
    log.info('draining');
    health.startDraining();
    await sleep(noticeMs);
    await connections.close(drainWithinMs);
    log.info('drained');
  }

  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve({ host, port: (server.address() as AddressInfo).port });
        });
      }),
    drain: () => (drained ??= drain()),
  };
}

/** Requires exactly one Host header (RFC 9112, 3.2): with two, a proxy may have used the other one. */
function isAddressed({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion === '1.0') return true;
  const isHost = (text: string, index: number) =>
    index % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host';
  return rawHeaders.filter(isHost).length === 1;
}

type Refusal = { status: string; code: string; message: string; headers?: string[] };

const NO_TUNNELS: Refusal = {
  status: '405 Method Not Allowed',
  code: 'method_not_allowed',
  message: 'This server is not a proxy.',
  headers: ['Allow: '],
};
const UNADDRESSED: Refusal = {
  status: '400 Bad Request',
  code: 'validation_error',
  message: 'A request has exactly one Host header.',
};
const MALFORMED = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };
const UNREADABLE: Record<string, { status: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The request headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request did not arrive in time.',
  },
};

function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  sendRefusal(socket, {
    code: 'validation_error',
    ...(UNREADABLE[error.code ?? ''] ?? MALFORMED),
  });
}

/** Answers a request that does not reach the application with an envelope, and closes the connection. */
function sendRefusal(socket: Duplex, { status, code, message, headers = [] }: Refusal): void {
  const body = JSON.stringify({
    success: false,
    error: { code, message, status: Number.parseInt(status, 10) },
  });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      `Date: ${new Date().toUTCString()}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${newId('request')}`,
      'Cache-Control: no-store',
      ...uncountedHeaders().map(([name, value]) => `${name}: ${value}`),
      ...headers,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
