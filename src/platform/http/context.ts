import type { RouterContext } from '@koa/router';
import type { Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { AuthenticatedKey } from '../api-keys/store.js';

/** A body as it was sent: the exact bytes (signatures are made over them) and, on JSON routes, the checked object. */
export type RequestBody = { bytes: Buffer; json?: JsonObject };
export type JsonObject = { [name: string]: JsonValue };
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** Stops the request's clock while a promise is pending; see time-limit.ts. */
export type WithoutDeadline = <T>(wait: Promise<T>) => Promise<T>;

export type AppState = {
  requestId: string;
  /** The client's address as far as it can be trusted; see client-address.ts. */
  address: string;
  /** Set by authenticate: always there on API routes, never on public ones. */
  key?: AuthenticatedKey;
  /** Set once the request has been counted against a limit. */
  counted?: boolean;
  /** Set by load.ts: takes the request out of what is worked on while a promise is pending. */
  excludeFromLoad?: <T>(wait: Promise<T>) => Promise<T>;
  /** Set by time-limit.ts: stops the request's clock while a promise is pending. */
  withoutDeadline?: WithoutDeadline;
  /** Set by jsonBody and rawBody. */
  body?: RequestBody;
};

export type Middleware = KoaMiddleware<AppState>;
/** What a route's handler gets. */
export type Context = RouterContext<AppState>;
/** What helpers ask for: any context of ours, inside a route or not. */
export type AppContext = ParameterizedContext<AppState>;

/** The caller. Only for routes behind authenticate: anywhere else it is a mistake of ours, and a 500. */
export function callerOf(ctx: AppContext): AuthenticatedKey {
  if (ctx.state.key === undefined) throw new Error('this route is not behind authenticate');
  return ctx.state.key;
}
