import { OverloadError } from '../../shared/batching.js';
import { isDatabaseUnavailable } from '../database/unavailable.js';
import { ApiError, errorBody } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import type { Middleware } from './context.js';
import { sendBytes } from './respond.js';

/**
 * Renders every error: each thrown value becomes an error envelope, and no text of an internal error reaches the
 * client.
 */
export function errorHandler({ log }: { log: Log }): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      if (error.status >= 500) {
        const context = {
          request_id: ctx.state.requestId,
          tenant: ctx.state.key?.tenant.id,
          code: error.code,
          err: thrown,
        };
        log[error.status === 500 ? 'error' : 'warn'](context, 'request failed');
      }
      // Every 401 names its scheme: a key, or for provider callbacks the provider's signature.
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
 * Converts a thrown value to the error that the client gets. Overload and an unavailable database become 503, because
 * the same request may succeed later. Unexpected errors become a 500 without details.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof OverloadError || isUnavailable(thrown)) {
    return new ApiError('service_unavailable', { cause: thrown });
  }
  return new ApiError('internal_error', { cause: thrown });
}

/** Follows causes, because the database's error may be the cause of another one. */
function isUnavailable(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; depth < 5; depth += 1) {
    if (isDatabaseUnavailable(error)) return true;
    if (!(error instanceof Error)) return false;
    error = error.cause;
  }
  return false;
}
