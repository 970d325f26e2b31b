import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { ApiError } from '../../shared/errors.js';
import type { AppContext, Middleware } from './context.js';
import { parseJsonObject } from './json.js';
import { excludeFromLoad } from './load.js';

/** Room for any single resource with its metadata. Routes that take many at once name their own bound. */
const DEFAULT_MAX_BODY_BYTES = 256 * 1024;

/** How much of a refused body is read and dropped before the connection is cut. */
const SWALLOW_MAX_BYTES = 32 * 1024 * 1024;

type BodyOptions = { maxBytes?: number };

/**
 * In a route's sentence: the body is a JSON object, or absent (then `json` is `{}`, and Content-Type is not asked for).
 * Anything else never reaches the handler: 413, 415, or a 400 that names the field.
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

/** In a route's sentence: only the exact bytes, for routes that check a signature before they believe anything. */
export function rawBody({ maxBytes = DEFAULT_MAX_BODY_BYTES }: BodyOptions = {}): Middleware {
  return async (ctx, next) => {
    ctx.state.body = { bytes: await readBytes(ctx, maxBytes) };
    await next();
  };
}

async function readBytes(ctx: AppContext, maxBytes: number): Promise<Buffer> {
  // A compressed body could be small on the wire and huge in memory; nobody needs one here.
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
      // The client went away or sent less than it announced; there may be nobody left to read this.
      throw new ApiError('validation_error', { field: 'body', cause: error });
    }
    swallowRest(ctx.req);
    throw new ApiError('payload_too_large', { details: { max_bytes: maxBytes } });
  }
}

/**
 * The answer goes out at once, and the rest of the body is read and dropped: closing instead would reset the connection
 * under a client that is still sending, which then sees a broken pipe in place of our 413. The server's request
 * time-out bounds how long this can take.
 */
function swallowRest(req: IncomingMessage): void {
  let left = SWALLOW_MAX_BYTES;
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req.resume();
}

/** `application/json`, in UTF-8 if a character set is named at all. */
function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset);
}

function isHttpError(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
}
