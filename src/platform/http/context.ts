import type { RouterContext } from '@koa/router';
import type { Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { AuthenticatedKey } from '../api-keys/authentication.js';
import type { ErrorCode } from '../../shared/errors.js';
import type { Operator } from '../operators/operator.js';

/** A body as the client sent it: the exact bytes (signatures cover them) and, on JSON routes, the parsed object. */
type RequestBody = { bytes: Buffer; json?: JsonObject };
/** A parsed JSON object. */
export type JsonObject = { [name: string]: JsonValue };
/** Any parsed JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** Pauses the request's time limit while a promise is pending; see time-limit.ts. */
export type WithoutDeadline = <T>(wait: Promise<T>) => Promise<T>;

/** The state that middlewares set for a request. */
export type AppState = {
  requestId: string;
  /** The client's address, as far as it can be trusted; see client-address.ts. */
  address: string;
  /** Set by `authenticate`: always present on routes with keys, never on public ones. */
  key?: AuthenticatedKey;
  /** Set by `authenticate` as soon as the key is found, so that a refusal of it can be traced. */
  foundKey?: { id: string; tenantId: string };
  /** The error code of the answer, once it has one. */
  errorCode?: ErrorCode | undefined;
  /** Set by the operator API's sign-in. */
  operator?: Operator;
  /** Set by the operator API: the approval that the act of this request uses. */
  approval?: string;
  /** The id of the record that the answer shows; for the log. */
  resource?: unknown;
  /** True once the request has been counted against a limit. */
  counted?: boolean;
  /** Set by load.ts: excludes the request from the work in progress while a promise is pending. */
  excludeFromLoad?: <T>(wait: Promise<T>) => Promise<T>;
  /** Set by time-limit.ts: pauses the time limit while a promise is pending. */
  withoutDeadline?: WithoutDeadline;
  /** Set by `jsonBody` and `rawBody`. */
  body?: RequestBody;
};

/** A Koa middleware with this service's state. */
export type Middleware = KoaMiddleware<AppState>;
/** The context that a route's handler gets. */
export type Context = RouterContext<AppState>;
/** The context that helpers take, inside a route or not. */
export type AppContext = ParameterizedContext<AppState>;

/** The caller of a request. Throws on routes without `authenticate`, which is a programming error and becomes a 500. */
export function callerOf(ctx: AppContext): AuthenticatedKey {
  if (ctx.state.key === undefined) throw new Error('this route is not behind authenticate');
  return ctx.state.key;
}
