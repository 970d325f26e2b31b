import { ApiError } from '../errors.js';
import type { AppRouter, Middleware } from './context.js';

/** OPTIONS on a path that exists: which methods it has. Asked without a key, because a browser's preflight has none. */
export function answerOptions({ routers }: { routers: readonly AppRouter[] }): Middleware {
  return (ctx, next) => {
    if (ctx.method !== 'OPTIONS') return next();
    const methods = methodsOf(routers, ctx.path);
    if (methods.length === 0) return next();
    ctx.set('Allow', methods.join(', '));
    ctx.status = 204;
    return undefined;
  };
}

/** The end of the stack: the path is known under other methods (405 with `Allow`, whatever the method), or it is not. */
export function notFound({ routers }: { routers: readonly AppRouter[] }): Middleware {
  return (ctx) => {
    const methods = methodsOf(routers, ctx.path);
    if (methods.length === 0) {
      throw new ApiError('not_found', { message: 'There is no such route.' });
    }
    ctx.set('Allow', methods.join(', '));
    throw new ApiError('method_not_allowed');
  };
}

function methodsOf(routers: readonly AppRouter[], path: string): string[] {
  const layers = routers.flatMap((router) => router.match(path, 'OPTIONS').path);
  const methods = new Set(layers.flatMap((layer) => layer.methods));
  return methods.size === 0 ? [] : [...methods.add('OPTIONS')].toSorted();
}
