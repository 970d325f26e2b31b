import { ApiError } from '../../shared/errors.js';
import type { Middleware } from './context.js';
import type { MethodsAt } from './routes.js';

/** OPTIONS on a path that exists: which methods it has. Asked without a key, because a browser's preflight has none. */
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

/** The end of the stack: the path is known under other methods (405 with `Allow`, whatever the method), or it is not. */
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
