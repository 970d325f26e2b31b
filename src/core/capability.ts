import type { CollectionSpec } from '../platform/database/migrations.js';
import type { Events } from '../platform/http/openapi.js';
import type { Operation } from '../platform/http/operation.js';
import type { Route } from '../platform/http/routes.js';
import type { ErasedRecords } from './erasure/erased-records.js';
import type { ArchivedRecords } from './ledger/archive.js';
import type { RecordAudit } from './ledger/audit-checks.js';
import type { Reconciled } from './reconciliation/comparison.js';
import type { InstructionRecord } from './instructions/instruction.js';
import type {
  InstructionLabels,
  OperatorAnswer,
  OperatorCommand,
  OperatorPayload,
} from './instructions/workflow-contract.js';
import type { SupervisedRecords } from './supervision/supervision.js';
import type { Client } from '@temporalio/client';
import type { Config } from '../shared/config.js';
import type { ProviderCapability } from '../shared/provider-settings.js';
import type { Database } from '../platform/database/client.js';
import type { GroupCommit } from './commit/group-commit.js';
import type { MutationsByName } from './commit/mutation.js';
import type { Log } from '../shared/log.js';
import type { ProviderEventHandler } from './provider-events/handler.js';
import type { Providers } from './providers/registry.js';
import type { Sealing } from '../platform/sealing/sealing.js';
import type { RateLimits } from '../platform/rate-limits/store.js';
import type { Tenants } from '../platform/tenants/store.js';
import type { CompletionWaiters } from '../shared/completion-waiter.js';

/** The parts that every capability is created with. */
export type CoreDeps = {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  /** True if workflows may begin in this process at once. */
  startsEagerly: boolean;
  providers: Providers;
  sealing: Sealing;
  tenants: Tenants;
  rateLimits: RateLimits;
  completionWaiters: CompletionWaiters;
  log: Log;
};

/** The fields of a record, as the command line prints them. */
export type PrintedFields = Record<string, string | number | boolean | object | null>;

/**
 * A kind of instruction for operators: the command line has `list`, `show`, `retry`, `verify`, `complete` and `fail` for
 * it. Methods take a record of the capability's own type.
 */
export type OperatedInstruction<Deps> = {
  /** Names of the record and of the party that knows its outcome. */
  labels: Pick<InstructionLabels, 'record' | 'provider' | 'hasAttempts'>;
  records(deps: Deps): {
    store: {
      find(id: string): Promise<InstructionRecord | null>;
      latest(of: { attention: boolean; limit: number }): Promise<InstructionRecord[]>;
      presumeSubmitted(): Promise<number>;
    };
    starter: {
      /** The id of the workflow of a record's present instruction. */
      workflowId(record: InstructionRecord): string;
      command(
        record: InstructionRecord,
        kind: OperatorCommand['kind'],
        payload: OperatorPayload,
      ): Promise<OperatorAnswer>;
    };
  };
  /** The line of a record in a list. */
  presentRow(record: InstructionRecord): PrintedFields;
  /** All fields of one record, with those that tenants do not get. */
  presentDetails(record: InstructionRecord): PrintedFields;
};

/**
 * All that a capability contributes to the service. `src/composition/capabilities.ts` lists the capabilities; API, OpenAPI
 * document, migrations, ledger audit, dispatcher, metrics, command line and doctor read that list and know no capability by
 * name.
 */
export type Capability<
  RouteDeps = never,
  PartDeps = RouteDeps,
  EventDeps = PartDeps,
  ReconciledDeps = PartDeps,
> = {
  /** Plural kebab-case, as in the command line: `card-fundings`. */
  name: string;
  /** The capability of a provider that it needs: without one, its operations answer `feature_not_enabled`. */
  servedBy?: ProviderCapability;
  /** Collections that the first migration creates. Their indexes say which of them have a backlog. */
  collections?: readonly CollectionSpec[];
  operations?: Readonly<Record<string, Operation>>;
  /** Mutations that change wallets, by name: while a wallet is contended, one process commits them for all others. */
  mutations?: MutationsByName;
  /** Webhook events that tenants receive. */
  events?: Events | readonly Events[];
  /** Its part of the ledger audit. */
  audit?: RecordAudit;
  /** Its records that an archive takes. */
  archived?: readonly ArchivedRecords[];
  /** Its records that name a customer, for the erasure of one. */
  erased?: readonly ErasedRecords[];
  /** One route for each operation. */
  routes?: (deps: RouteDeps) => Route[];
  /** Records whose workflows the dispatcher starts when their next check is due, by the collection's name. */
  supervised?: (deps: PartDeps) => Readonly<Record<string, SupervisedRecords>>;
  /** Its records that a reconciliation compares with their providers. */
  reconciled?: (deps: ReconciledDeps) => Reconciled;
  /** False if the command line has no `list --attention` for its records. */
  listsAttention?: boolean;
  /** Applies the events of providers to its records. */
  providerEvents?: (deps: EventDeps) => ProviderEventHandler;
  /** The instructions that operators list, show and command. */
  instruction?: OperatedInstruction<PartDeps>;
};

/** Capabilities whose parts another one is created with, under names of its own choice. */
type Needs = Readonly<Record<string, Creatable>>;

/** Creates the parts of a capability, which become `deps.<name in camelCase>`. */
type Factory<N extends Needs, Parts> = {
  needs?: N;
  /** Connects the parts. A part `idle` resolves when the capability has no work in progress. */
  create?(core: CoreDeps, needs: { [Name in keyof N]: PartsOf<N[Name]> }): Parts;
};

/** A capability as `createParts` sees it. */
type Creatable = { name: string; needs?: Needs; create?(core: CoreDeps, needs: object): unknown };

/** The parts that a capability creates; `never` if it creates none. */
type PartsOf<C> = C extends { create?(core: CoreDeps, needs: never): infer Parts } ? Parts : never;

/** The fields of a capability that keep types of their own, which `deps` and the check of the client's types need. */
type Typed<Name, N extends Needs, Parts, O, E> = Factory<N, Parts> & {
  name: Name;
  operations?: O;
  events?: E;
};

/** Declares a capability. Its routes, its supervision and its instruction name the parts that they take from the composition root. */
export const defineCapability = <
  const Name extends string,
  RouteDeps,
  PartDeps,
  EventDeps,
  ReconciledDeps,
  Parts = never,
  N extends Needs = never,
  O extends Readonly<Record<string, Operation>> = never,
  E extends Events | readonly Events[] = never,
>(
  capability: Capability<RouteDeps, PartDeps, EventDeps, ReconciledDeps> &
    Typed<Name, N, Parts, O, E>,
): Omit<
  Capability<RouteDeps, PartDeps, EventDeps, ReconciledDeps>,
  'name' | 'operations' | 'events'
> &
  Typed<Name, N, Parts, O, E> => capability;

type CamelCase<Name> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The parts of all capabilities of a list, under their names in camelCase. */
export type PartsByName<C extends Creatable> = {
  [Each in C as [PartsOf<Each>] extends [never] ? never : CamelCase<Each['name']>]: PartsOf<Each>;
};

const camelCase = (name: string) =>
  name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Creates the parts of every capability once, in the order of the list; a capability's needs come before it. `idle` waits
 * for them in the opposite order, because a capability hands work to those that it needs.
 */
export function createParts<C extends Creatable>(
  list: readonly C[],
  core: CoreDeps,
): { parts: PartsByName<C>; idle: () => Promise<void> } {
  const created = new Map<Creatable, unknown>();

  function partsOf(capability: Creatable): unknown {
    if (!created.has(capability)) {
      const needs = Object.entries(capability.needs ?? {});
      const given = Object.fromEntries(needs.map(([name, needed]) => [name, partsOf(needed)]));
      created.set(capability, capability.create?.(core, given));
    }
    return created.get(capability);
  }

  const creating = list.filter((capability) => 'create' in capability);
  const parts = Object.fromEntries(
    creating.map((capability) => [camelCase(capability.name), partsOf(capability)]),
  );
  return {
    // Object.fromEntries forgets the names that the mapped type derives.
    parts: parts as PartsByName<C>,
    async idle() {
      for (const each of [...created.values()].toReversed()) if (canIdle(each)) await each.idle();
    },
  };
}

const canIdle = (parts: unknown): parts is { idle(): Promise<void> } =>
  typeof parts === 'object' &&
  parts !== null &&
  'idle' in parts &&
  typeof parts.idle === 'function';
