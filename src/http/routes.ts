import { Router } from '@koa/router';
import { z } from 'zod';
import { ApiError } from '../errors.js';
import { jsonBody, rawBody } from './body.js';
import type { AppRouter, AppState, Context, Middleware } from './context.js';
import { API_PREFIX } from './idempotency.js';
import { routerPath, type Input, type Operation } from './operation.js';
import { validateBody, validateQuery } from './validate.js';

type Handler<O extends Operation> = (ctx: Context, input: Input<O>) => Promise<void> | void;

/** An operation and what answers it. */
export type Route = { operation: Operation; handle: Handler<Operation> };

export const route = <const O extends Operation>(operation: O, handle: Handler<O>): Route => ({
  operation,
  handle,
});

const NOTHING = z.strictObject({});

/** The operation that a request would reach, if any. */
export type OperationAt = (request: { method: string; path: string }) => Operation | undefined;

/** A router of the routes under /api/v1; `first` comes before each of them. */
export function routerOf(
  routes: readonly Route[],
  first: readonly Middleware[] = [],
): { router: AppRouter; operationAt: OperationAt } {
  const router = new Router<AppState>({ prefix: API_PREFIX });
  // In this order fixed segments come before parameters: `/transfers/banks` is not the id of a transfer.
  for (const { operation, handle } of routes.toSorted(byPath)) {
    const { id, method, path } = operation;
    const methods = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    const run: Middleware = (ctx) => handle(ctx as Context, checkInput(operation, ctx as Context));
    router.register(routerPath(path), methods, [...first, ...readBody(operation), run], {
      name: id,
    });
  }
  const operations = new Map(routes.map(({ operation }) => [operation.id, operation]));
  return {
    router,
    operationAt({ method, path }) {
      const layers = router.match(path, method).pathAndMethod;
      return operations.get(layers.find(({ methods }) => methods.length > 0)?.name ?? '');
    },
  };
}

function readBody({ method, access, maxBodyBytes }: Operation): Middleware[] {
  if (method === 'get') return [];
  const limit = maxBodyBytes === undefined ? {} : { maxBytes: maxBodyBytes };
  return [access === 'provider' ? rawBody(limit) : jsonBody(limit)];
}

function checkInput(operation: Operation, ctx: Context): Input<Operation> {
  const { params = {}, query = NOTHING, body = NOTHING } = operation;
  const named = z.object(params).safeParse(ctx.params);
  if (!named.success) throw new ApiError('not_found');
  return {
    params: named.data,
    query: validateQuery(query, ctx) as object,
    body: ctx.state.body?.json === undefined ? {} : (validateBody(body, ctx) as object),
  };
}

const byPath = (a: Route, b: Route) => (a.operation.path < b.operation.path ? -1 : 1);
