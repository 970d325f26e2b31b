import type { z } from 'zod';
import type {
  Client,
  ErrorCode,
  NewTransfer,
  Operations,
  WebhookEvent,
} from '../../client/src/index.js';
import type { ErrorCode as ServiceErrorCode } from '../../src/shared/errors.js';
import type { events, operations } from '../../src/composition/operations.js';
import type { transferBody } from '../../src/capabilities/transfers/schema.js';

/** A check by the compiler: this file compiles only if the client's types match the schemas of the service. */

type Same<A, B> = [A, B] extends [B, A] ? true : { not: A; the: B };
type Fits<A, B> = A extends B ? true : { this: A; isNo: B };

/** JSON has no `undefined`: a field is present or absent. */
type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [Name in keyof T]: Json<Exclude<T[Name], undefined>> }
    : T;

type All = typeof operations;
type Called = {
  [Id in keyof All]: All[Id] extends { access: 'provider' } ? never : Id;
}[keyof All];
type Schema<O, Part extends string> = O extends { [part in Part]: infer S extends z.ZodType }
  ? S
  : z.ZodType<object>;
type Params<O> = O extends { params: infer P extends z.ZodRawShape }
  ? z.input<z.ZodObject<P>>
  : object;
/** Query parameters are digits on the wire; the client takes the parsed values. */
type Query<O> = O extends { query: infer Q extends z.ZodType } ? Partial<z.output<Q>> : object;

type Checks = {
  /** Fails to compile if an operation is missing or extra. */
  ids: Same<keyof Operations, Called>;
  methods: Same<keyof Client, Called>;
  codes: Same<ErrorCode, ServiceErrorCode>;
  events: Same<WebhookEvent['data'], Json<z.output<(typeof events)[number]['data']>>>;
  item: Fits<NewTransfer, z.input<typeof transferBody>>;
} & {
  [Id in Called as `${Id} answers`]: Same<
    Operations[Id]['data'],
    Json<z.output<All[Id]['answer']['data']>>
  >;
} & {
  [Id in Called as `${Id} takes`]: Fits<
    Operations[Id]['input'],
    Params<All[Id]> & Query<All[Id]> & z.input<Schema<All[Id], 'body'>>
  >;
} & {
  /** The client accepts no fields that the schema does not have. */
  [Id in Called as `${Id} takes no more`]: Same<
    Exclude<
      keyof Operations[Id]['input'],
      keyof Params<All[Id]> | keyof Query<All[Id]> | keyof z.input<Schema<All[Id], 'body'>>
    >,
    never
  >;
};

type Failed = { [Name in keyof Checks as Checks[Name] extends true ? never : Name]: Checks[Name] };

/** The checks that fail, by name. */
export const failed: Failed = {};
