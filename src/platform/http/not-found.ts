import { ApiError } from '../../shared/errors.js';
import type { Middleware } from './context.js';
import type { MethodsAt } from './routes.js';

/** Answers OPTIONS on an existing path with its methods. No key is required, because a browser's preflight has none. */
export function answerOptions({ methodsAt }: { methodsAt: MethodsAt }): Middleware {
  return (ctx, next) => {
    if (ctx.method !== 'OPTIONS') return next();
    const methods = allowedAt(methodsAt, ctx.path);
    if (methods.length === 0) return next();
    ctx.set('Allow', methods.join(', '));
    ctx.status = 204;
    return undefined;
  };
}

/** Ends the stack: 405 with `Allow` if the path has other methods, otherwise 404. */
export function notFound({ methodsAt }: { methodsAt: MethodsAt }): Middleware {
  return (ctx) => {
    const methods = allowedAt(methodsAt, ctx.path);
    if (methods.length === 0) {
      throw new ApiError('not_found', { message: 'There is no such route.' });
    }
    ctx.set('Allow', methods.join(', '));
    throw new ApiError('method_not_allowed');
  };
}

function allowedAt(methodsAt: MethodsAt, path: string): string[] {
  const methods = methodsAt(path);
  return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].toSorted();
}
