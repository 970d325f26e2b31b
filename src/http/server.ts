import {
  createServer as createNodeServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpTerminator } from 'http-terminator';
import type Koa from 'koa';
import { newId } from '../ids.js';
import type { Log } from '../log.js';
import type { AppState } from './context.js';
import type { Health } from './health.js';

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
  const onRequest = (req: IncomingMessage, res: ServerResponse) => void handle(req, res);
  const server = createNodeServer(
    {
      headersTimeout: headersWithinMs,
      requestTimeout: requestWithinMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: headersWithinMs / 2,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    onRequest,
  );
  server.maxConnections = maxConnections;
  server.on('drop', onDrop);
  // Their bytes are bounded; past this number Node would leave headers out in silence.
  server.maxHeadersCount = 0;
  // An expectation we do not know is not a reason to refuse: Node would answer 417 without an envelope.
  server.on('checkExpectation', onRequest);
  server.on('clientError', answerUnreadable);
  const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: drainWithinMs });
  let drained: Promise<void> | null = null;

  async function drain(): Promise<void> {
    log.info('draining');
    health.startDraining();
    await sleep(noticeMs);
    await terminator.terminate();
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

/** What is not HTTP never reaches the application: it still gets an envelope, and its connection is closed. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const { status, message } = UNREADABLE[error.code ?? ''] ?? {
    status: '400 Bad Request',
    message: 'The request is not valid HTTP.',
  };
  const code = 'validation_error';
  const body = JSON.stringify({
    success: false,
    error: { code, message, status: Number.parseInt(status, 10) },
  });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${newId('request')}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
