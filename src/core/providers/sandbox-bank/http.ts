import { errors, Pool, type Dispatcher } from 'undici';
import type { UnknownReason } from '../transfer-provider.js';

/** Enough for one worker's concurrent calls: a call never waits for another's answer. */
const CONNECTIONS = 256;
/** Room for all refunds of a charge. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** The bank's reply, or the reason why there is none. `requestId` is the bank's id of the exchange. */
export type Reply = { requestId: string | null } & (
  | { kind: 'answer'; status: number; retryAfter: string | null; body: unknown }
  | { kind: 'none'; reason: UnknownReason }
);

/** A request to the bank. `path` begins with a slash. */
type BankRequest = { method: 'GET' | 'POST' | 'PUT'; path: string; body?: unknown };

/** Makes one exchange with the bank. Never throws. */
type BankHttp = (request: BankRequest, signal: AbortSignal) => Promise<Reply>;

/**
 * Creates the function for one HTTP exchange with the bank. It never throws and never retries. Without a usable answer the
 * exchange has ended too: it was answered in full or its connection is closed, so no part of it can still be sent.
 */
export function createBankHttp(options: {
  url: string;
  secret: string;
  timeoutMs: number;
}): BankHttp {
  const base = new URL(options.url);
  const prefix = base.pathname.replace(/\/$/, '');
  const pool = new Pool(base.origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    connectTimeout: options.timeoutMs,
    // The time limit is ours, below: the client's own are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });

  async function exchange(request: BankRequest, signal: AbortSignal): Promise<Reply> {
    const response = await pool.request({
      method: request.method,
      path: prefix + request.path,
      headers: {
        authorization: `Bearer ${options.secret}`,
        accept: 'application/json',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
    });
    const requestId = requestIdOf(response);
    if (response.statusCode >= 500) {
      // The server may still be reading. Closing the connection prevents that it gets more of the request.
      response.body.on('error', () => {}).destroy();
      return { kind: 'none', reason: 'server_error', requestId };
    }
    const text = await response.body.text();
    const retryAfter = header(response, 'retry-after');
    const body = parse(text);
    // A 429 may come from anything on the way, in any form: its status is enough.
    if (body === undefined && response.statusCode !== 429) {
      return { kind: 'none', reason: 'unreadable', requestId };
    }
    return { kind: 'answer', status: response.statusCode, retryAfter, body, requestId };
  }

  return async (request, callerSignal) => {
    if (callerSignal.aborted) return { kind: 'none', reason: 'timeout', requestId: null };
    // Done here, because AbortSignal.any with AbortSignal.timeout keeps both alive until the time is over.
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const timer = setTimeout(abort, options.timeoutMs);
    callerSignal.addEventListener('abort', abort);
    try {
      return await exchange(request, controller.signal);
    } catch (error) {
      return { kind: 'none', reason: reasonOf(error, controller.signal), requestId: null };
    } finally {
      clearTimeout(timer);
      callerSignal.removeEventListener('abort', abort);
    }
  };
}

function reasonOf(error: unknown, signal: AbortSignal): UnknownReason {
  if (signal.aborted || error instanceof errors.ConnectTimeoutError) return 'timeout';
  return error instanceof errors.ResponseExceededMaxSizeError ? 'unreadable' : 'connection';
}

function header(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name];
  return typeof value === 'string' ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The request id goes into timelines and workflow histories, so anything but an identifier is dropped. */
function requestIdOf(response: Dispatcher.ResponseData): string | null {
  const id = header(response, 'x-request-id');
  return id !== null && /^[0-9A-Za-z_-]{1,64}$/.test(id) ? id : null;
}
