import { OverloadError } from '../../shared/batching.js';
import { isDatabaseUnavailable } from '../database/unavailable.js';
import { ApiError, errorBody } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import type { Middleware } from './context.js';
import { sendBytes } from './respond.js';

/** The one renderer of errors: whatever is thrown below it becomes an envelope, and no foreign text ever gets out. */
export function errorHandler({ log }: { log: Log }): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      if (error.status >= 500) {
        const context = { request_id: ctx.state.requestId, code: error.code, err: thrown };
        log[error.status === 500 ? 'error' : 'warn'](context, 'request failed');
      }
      // Every 401 names a way in; that of a callback is no key but the provider's own signature.
      if (error.status === 401) {
        ctx.set('WWW-Authenticate', error.code === 'invalid_signature' ? 'Signature' : 'Bearer');
      }
      if (error.retryAfterSeconds !== undefined) {
        ctx.set('Retry-After', String(error.retryAfterSeconds));
      }
      sendBytes(ctx, error.status, JSON.stringify(errorBody(error)));
    }
  };
}

/**
 * What the client is told. Overload and a database that is away are 503, because the same request may succeed later;
 * what nobody foresaw is a 500 that says nothing.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof OverloadError || isUnavailable(thrown)) {
    return new ApiError('service_unavailable', { cause: thrown });
  }
  return new ApiError('internal_error', { cause: thrown });
}

/** Also when the database's error is the cause of another one. */
function isUnavailable(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; depth < 5; depth += 1) {
    if (isDatabaseUnavailable(error)) return true;
    if (!(error instanceof Error)) return false;
    error = error.cause;
  }
  return false;
}
