import { errors, Pool, type Dispatcher } from 'undici';
import { opaqueId } from '../../shared/card-data.js';
import type { UnknownReason } from './port.js';

/** Enough for one worker's concurrent calls: a call never waits for another's answer. */
const CONNECTIONS = 256;
/** Room for all refunds of a charge. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** The provider's reply, or the reason why there is none. `requestId` is the provider's id of the exchange. */
export type Reply = { requestId: string | null } & (
  | { kind: 'answer'; status: number; headers: ReplyHeaders; body: unknown }
  | { kind: 'none'; reason: UnknownReason }
);

/** The headers of a reply, by their names in lower case; those that occur more than once are left out. */
type ReplyHeaders = Readonly<Record<string, string>>;

/** A request to a provider. `path` begins with a slash and may have a query. */
export type ProviderRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
};

/** Makes one exchange with a provider. Never throws. */
export type ProviderHttp = (request: ProviderRequest, signal: AbortSignal) => Promise<Reply>;

/** The settings of a provider's HTTP client. */
export type ProviderHttpOptions = {
  /** The address of the provider's API, with or without a path. */
  url: string;
  /** Sent with every request, such as the authorization. */
  headers: Readonly<Record<string, string>>;
  /** Bound of one exchange, from the first byte to the last. */
  timeoutMs: number;
};

/**
 * Creates the function for one HTTP exchange with a provider. It sends one request: it never retries, follows no redirect,
 * and sends nothing after its signal was aborted. It never throws. Without a usable answer the exchange has ended too: it
 * was answered in full or its connection is closed, so no part of it can still be sent.
 */
export function createProviderHttp(options: ProviderHttpOptions): ProviderHttp {
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

  async function exchange(request: ProviderRequest, signal: AbortSignal): Promise<Reply> {
    const response = await pool.request({
      method: request.method,
      path: prefix + request.path,
      headers: {
        accept: 'application/json',
        ...options.headers,
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
    const body = parse(text);
    // A 429 may come from anything on the way, in any form: its status is enough.
    if (body === undefined && response.statusCode !== 429) {
      return { kind: 'none', reason: 'unreadable', requestId };
    }
    const headers = headersOf(response);
    return { kind: 'answer', status: response.statusCode, headers, body, requestId };
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

function headersOf(response: Dispatcher.ResponseData): ReplyHeaders {
  return Object.fromEntries(
    Object.entries(response.headers).filter(
      (each): each is [string, string] => typeof each[1] === 'string',
    ),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The request id goes into timelines and workflow histories, so anything but an identifier is dropped, and so are the digits of
 * a card number.
 */
function requestIdOf(response: Dispatcher.ResponseData): string | null {
  const id = response.headers['x-request-id'];
  return typeof id === 'string' && /^[0-9A-Za-z_-]{1,64}$/.test(id) ? opaqueId(id) : null;
}
