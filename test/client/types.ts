import type { z } from 'zod';
import type {
  Client,
  ErrorCode,
  NewTransfer,
  Operations,
  WebhookEvent,
} from '../../client/src/index.js';
import type { ErrorCode as ServiceErrorCode } from '../../src/shared/errors.js';
import type { cardAuthorizationOperations } from '../../src/capabilities/card-authorizations/api.js';
import type {
  cardFundingOperations,
  cardOperationEvents,
} from '../../src/capabilities/card-fundings/api.js';
import type {
  cardStateOperations,
  cardStateEvents,
} from '../../src/capabilities/card-states/api.js';
import type { cardOperations } from '../../src/capabilities/cards/api.js';
import type { chargeEvents, chargeOperations } from '../../src/capabilities/charges/api.js';
import type { tokenOperations } from '../../src/capabilities/payment-tokens/api.js';
import type {
  recurringChargeEvents,
  recurringChargeOperations,
} from '../../src/capabilities/recurring-charges/api.js';
import type { refundEvents, refundOperations } from '../../src/capabilities/refunds/api.js';
import type { transferEvents, transferOperations } from '../../src/capabilities/transfers/api.js';
import type { cardEventOperations } from '../../src/core/provider-events/api.js';
import type { bulkItemBody } from '../../src/capabilities/transfers/schema.js';

/** Nothing here runs: it compiles only if the client's types are those of the schemas that the service checks by. */

type Same<A, B> = [A, B] extends [B, A] ? true : { not: A; the: B };
type Fits<A, B> = A extends B ? true : { this: A; isNo: B };

/** JSON has no undefined: a field is there or it is not. */
type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [Name in keyof T]: Json<Exclude<T[Name], undefined>> }
    : T;

/** The list of capabilities has no static type of each operation, so that they are named here. `ids` finds a missing one. */
type All = typeof transferOperations &
  typeof cardOperations &
  typeof cardStateOperations &
  typeof cardFundingOperations &
  typeof cardAuthorizationOperations &
  typeof tokenOperations &
  typeof chargeOperations &
  typeof refundOperations &
  typeof recurringChargeOperations &
  typeof cardEventOperations;
type Events =
  | typeof transferEvents
  | typeof cardOperationEvents
  | typeof cardStateEvents
  | typeof chargeEvents
  | typeof refundEvents
  | typeof recurringChargeEvents;
type Called = {
  [Id in keyof All]: All[Id] extends { access: 'provider' } ? never : Id;
}[keyof All];
type Schema<O, Part extends string> = O extends { [part in Part]: infer S extends z.ZodType }
  ? S
  : z.ZodType<object>;
type Params<O> = O extends { params: infer P extends z.ZodRawShape }
  ? z.input<z.ZodObject<P>>
  : object;
/** On the wire a number is digits; what was read of them is what a client writes. */
type Query<O> = O extends { query: infer Q extends z.ZodType } ? Partial<z.output<Q>> : object;

type Checks = {
  /** An operation more or less, and it does not compile. */
  ids: Same<keyof Operations, Called>;
  methods: Same<keyof Client, Called>;
  codes: Same<ErrorCode, ServiceErrorCode>;
  events: Same<WebhookEvent['data'], z.output<Events['data']>>;
  item: Fits<NewTransfer, z.input<typeof bulkItemBody>>;
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
  /** And nothing that the schema does not know. */
  [Id in Called as `${Id} takes no more`]: Same<
    Exclude<
      keyof Operations[Id]['input'],
      keyof Params<All[Id]> | keyof Query<All[Id]> | keyof z.input<Schema<All[Id], 'body'>>
    >,
    never
  >;
};

type Failed = { [Name in keyof Checks as Checks[Name] extends true ? never : Name]: Checks[Name] };

/** The checks that fail, by their names. */
export const failed: Failed = {};
