import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { ApiError } from '../../shared/errors.js';
import type { AppContext, Middleware } from './context.js';
import { parseJsonObject } from './json.js';
import { excludeFromLoad } from './load.js';

/** Enough for a single resource with its metadata. Operations that take many at once set their own bound. */
const DEFAULT_MAX_BODY_BYTES = 256 * 1024;

/** Bytes of a refused body that are read and dropped before the connection is closed. */
const DISCARD_MAX_BYTES = 32 * 1024 * 1024;

type BodyOptions = { maxBytes?: number };

/**
 * Reads a JSON object, or an absent body (then `json` is `{}` and Content-Type is not checked). Any other body is
 * refused with 413, 415, or a 400 that names the field.
 */
export function jsonBody({ maxBytes = DEFAULT_MAX_BODY_BYTES }: BodyOptions = {}): Middleware {
  return async (ctx, next) => {
    const bytes = await readBytes(ctx, maxBytes);
    if (bytes.length > 0 && !isJson(ctx.req.headers['content-type'])) {
      ctx.set('Accept', 'application/json');
      throw new ApiError('unsupported_media_type');
    }
    ctx.state.body = { bytes, json: bytes.length > 0 ? parseJsonObject(bytes) : {} };
    await next();
  };
}

/** Reads the exact bytes only, for routes that verify a signature before they parse. */
export function rawBody({ maxBytes = DEFAULT_MAX_BODY_BYTES }: BodyOptions = {}): Middleware {
  return async (ctx, next) => {
    ctx.state.body = { bytes: await readBytes(ctx, maxBytes) };
    await next();
  };
}

async function readBytes(ctx: AppContext, maxBytes: number): Promise<Buffer> {
  // A compressed body can be small on the wire and huge in memory, and no client needs one.
  const encoding = ctx.req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    ctx.set('Accept-Encoding', 'identity');
    throw new ApiError('unsupported_media_type');
  }
  const length = ctx.req.headers['content-length'];
  try {
    const options = { limit: maxBytes, ...(length !== undefined && { length }) };
    return await excludeFromLoad(ctx, getRawBody(ctx.req, options));
  } catch (error) {
    if (!isHttpError(error)) throw error;
    if (error.status !== 413) {
      // The client disconnected or sent less than announced, so it may not receive this answer.
      throw new ApiError('validation_error', { field: 'body', cause: error });
    }
    discardRest(ctx.req);
    throw new ApiError('payload_too_large', { details: { max_bytes: maxBytes } });
  }
}

/**
 * Reads and drops the rest of a refused body while the answer is sent. Closing instead would reset the connection of a
 * client that is still sending: it would get a broken pipe instead of the 413. The server's request time-out bounds
 * this.
 */
function discardRest(req: IncomingMessage): void {
  let remaining = DISCARD_MAX_BYTES;
  req.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) req.destroy();
  });
  req.resume();
}

/** Accepts `application/json`; a named character set must be UTF-8. */
function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset);
}

function isHttpError(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
}
