import { Router } from '@koa/router';
import { z } from 'zod';
import { ApiError } from '../../shared/errors.js';
import { jsonBody, rawBody } from './body.js';
import type { AppState, Context, Middleware } from './context.js';
import { API_PREFIX, routerPath, type Input, type Operation } from './operation.js';
import { refuseCardNumbers } from './json.js';
import { refuseLate } from './time-limit.js';
import { validate, validateBody, validateQuery } from './validate.js';

type Handler<O extends Operation> = (ctx: Context, input: Input<O>) => Promise<void> | void;

/** An operation with its handler. */
export type Route = { operation: Operation; handle: Handler<Operation> };

/** Pairs an operation with a handler, which gets the operation's validated input. */
export const route = <const O extends Operation>(operation: O, handle: Handler<O>): Route => ({
  operation,
  handle,
});

const NOTHING = z.strictObject({});

/** Finds the operation that a request would reach. */
export type OperationAt = (request: { method: string; path: string }) => Operation | undefined;

/** Lists the methods of a path; empty if the path does not exist. */
export type MethodsAt = (path: string) => string[];

/**
 * Creates one middleware for the routes under a prefix. The middlewares in `first` run before each route, those in `afterBody`
 * between the body of a request and its route.
 */
export function routerOf(
  routes: readonly Route[],
  first: readonly Middleware[] = [],
  prefix = API_PREFIX,
  afterBody: readonly Middleware[] = [],
): { middleware: Middleware; operationAt: OperationAt; methodsAt: MethodsAt } {
  const router = new Router<AppState>({ prefix });
  const operations = new Map(routes.map(({ operation }) => [operation.id, operation]));
  // Sorted by path, fixed segments come before parameters: `/transfers/banks` is not the id of a transfer.
  for (const { operation, handle } of routes.toSorted(byPath)) {
    const { id, method, path } = operation;
    const methods = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    const check = inputOf(operation);
    const run: Middleware = (ctx) => {
      refuseLate(ctx);
      return handle(ctx as Context, check(ctx as Context));
    };
    const body = method === 'get' ? [] : [...readBody(operation), ...afterBody];
    router.register(routerPath(path), methods, [...first, ...body, run], { name: id });
  }

  /**
   * Of the matching paths only the first counts, whatever the method: DELETE on `/transfers/banks` must not reach
   * `/transfers/{id}`.
   */
  function layersAt(at: string) {
    const [found, ...others] = router.match(at, '').path;
    return found ? [found, ...others.filter(({ path }) => path === found.path)] : [];
  }
  // Several middlewares look up the operation of the same request, so the result is cached.
  const known = new WeakMap<object, Operation | 'none'>();
  const operationAt: OperationAt = (request) => {
    let found = known.get(request);
    if (found === undefined) {
      const layer = layersAt(request.path).find(({ methods }) => methods.includes(request.method));
      found = operations.get(layer?.name ?? '') ?? 'none';
      known.set(request, found);
    }
    return found === 'none' ? undefined : found;
  };
  // The router itself adds the properties that its context type requires.
  const dispatch = router.routes() as Middleware;
  return {
    middleware: (ctx, next) => (operationAt(ctx) ? dispatch(ctx, next) : next()),
    operationAt,
    methodsAt: (path) => layersAt(path).flatMap(({ methods }) => methods),
  };
}

function readBody({ access, maxBodyBytes }: Operation): Middleware[] {
  const limit = maxBodyBytes === undefined ? {} : { maxBytes: maxBodyBytes };
  return [access === 'provider' ? rawBody(limit) : jsonBody(limit)];
}

/**
 * Creates the input check of an operation. The schemas are created once, because creating one costs more than using it.
 */
function inputOf({ params = {}, namesNew, query = NOTHING, body = NOTHING }: Operation) {
  const inPath = z.object(params);
  const named = (ctx: Context) => {
    if (namesNew) {
      refuseCardNumbers(ctx.params);
      return validate(inPath, ctx.params, 'path');
    }
    const found = inPath.safeParse(ctx.params);
    if (!found.success) throw new ApiError('not_found');
    return found.data;
  };
  return (ctx: Context): Input<Operation> => ({
    params: named(ctx),
    query: validateQuery(query, ctx) as object,
    body: ctx.state.body?.json === undefined ? {} : (validateBody(body, ctx) as object),
  });
}

const byPath = (a: Route, b: Route) => (a.operation.path < b.operation.path ? -1 : 1);
