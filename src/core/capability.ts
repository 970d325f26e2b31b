import type { CollectionSpec } from '../platform/database/migrations.js';
import type { Events } from '../platform/http/openapi.js';
import type { Operation } from '../platform/http/operation.js';
import type { Route } from '../platform/http/routes.js';
import type { RecordAudit } from './ledger/audit-checks.js';
import type { SupervisedRecords } from './supervision/supervision.js';
import type { Client } from '@temporalio/client';
import type { Config } from '../shared/config.js';
import type { Database } from '../platform/database/client.js';
import type { GroupCommit } from './commit/group-commit.js';
import type { Log } from '../shared/log.js';
import type { ProviderEventHandler } from './provider-events/handler.js';
import type { Providers } from './providers/registry.js';
import type { CompletionWaiters } from '../shared/completion-waiter.js';

/** The parts that every capability is created with. */
export type CoreDeps = {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  providers: Providers;
  completionWaiters: CompletionWaiters;
  log: Log;
};

/**
 * All that a capability contributes to the service. `src/composition/capabilities.ts` lists the capabilities; API, OpenAPI document,
 * migrations, ledger audit, dispatcher, metrics and doctor read that list and know no capability by name.
 */
export type Capability<RouteDeps, SupervisionDeps = RouteDeps, EventDeps = RouteDeps> = {
  /** Plural kebab-case, as in the command line: `card-fundings`. */
  name: string;
  /** Collections that the first migration creates. Their indexes say which of them have a backlog. */
  collections?: readonly CollectionSpec[];
  operations?: Readonly<Record<string, Operation>>;
  /** Webhook events that tenants receive. */
  events?: Events;
  /** Its part of the ledger audit. */
  audit?: RecordAudit;
  /** One route for each operation. */
  routes?(deps: RouteDeps): Route[];
  /** Records whose workflows the dispatcher starts when their next check is due, by the collection's name. */
  supervised?(deps: SupervisionDeps): Readonly<Record<string, SupervisedRecords>>;
  /** Applies the events of providers to its records. */
  providerEvents?(deps: EventDeps): ProviderEventHandler;
};

/** The operations and events of a capability with their own types, which the check of the client's types compares. */
type Surface<O, E> = { operations?: O; events?: E };

/** Declares a capability. Its routes and its supervision name the parts that they take from the composition root. */
export const defineCapability = <
  RouteDeps,
  SupervisionDeps,
  EventDeps,
  O extends Readonly<Record<string, Operation>> = never,
  E extends Events = never,
>(
  capability: Capability<RouteDeps, SupervisionDeps, EventDeps> & Surface<O, E>,
): Omit<Capability<RouteDeps, SupervisionDeps, EventDeps>, keyof Surface<O, E>> & Surface<O, E> =>
  capability;
