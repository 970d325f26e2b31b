import {
  createServer as createNodeServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Koa from 'koa';
import { newId } from '../ids.js';
import type { Log } from '../log.js';
import { trackConnections } from './connections.js';
import type { AppState } from './context.js';
import type { Health } from './health.js';
import { uncountedHeaders } from './rate-limit.js';

/** A client that trickles its headers or body holds a connection no longer than this. */
const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
/** Longer than the 60 s after which common load balancers drop an idle connection: the one who reuses it must win. */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16 * 1024;
const DRAIN_WITHIN_MS = 15_000;
const MAX_CONNECTIONS = 10_000;

export type HttpServer = {
  /** Where it listens; port 0 asks for any free one. */
  listen(at: { host: string; port: number }): Promise<{ host: string; port: number }>;
  /**
   * Stops: not ready from now on, `noticeMs` later no new connection, requests under way get their answers, and what is
   * still open after the time limit is cut. Resolves when everything is closed; a second call waits for the first.
   */
  drain(): Promise<void>;
};

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
  /** How long a load balancer may take to see that we are not ready. */
  noticeMs?: number;
  headersWithinMs?: number;
  requestWithinMs?: number;
  maxConnections?: number;
  /** A connection was closed because there are too many. */
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
      // Ours answers with an envelope, and refuses two of them too.
      requireHostHeader: false,
    },
    onRequest,
  );
  server.maxConnections = maxConnections;
  server.on('drop', onDrop);
  // Their bytes are bounded; past this number Node would leave headers out in silence.
  server.maxHeadersCount = 0;
  // An expectation we do not know is not a reason to refuse: Node would answer 417 without an envelope.
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => answerUnreadable(error, socket));
  // Node would close such a connection without a word.
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

/** Exactly one Host, or the request is refused (RFC 9112, 3.2): with two, a proxy may have read the other one. */
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
  message: 'This is no proxy.',
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

/** What never reaches the application: it still gets an envelope, and its connection is closed. */
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
