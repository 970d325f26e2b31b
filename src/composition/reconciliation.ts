import type { Db } from 'mongodb';
import { depositId, UNOWNED } from '../capabilities/deposits/record.js';
import { disputeId } from '../capabilities/disputes/record.js';
import { deskRefundId } from '../capabilities/refunds/record.js';
import type { Breaks } from '../core/reconciliation/breaks.js';
import { matchStatement, type MatchingDeps } from '../core/reconciliation/matching.js';
import type { Providers } from '../core/providers/registry.js';
import type { Reconciled } from '../core/reconciliation/comparison.js';
import type { ScheduledRun } from '../core/reconciliation/last-runs.js';
import { createRecordSchedules, limitsOf } from '../core/reconciliation/schedule.js';
import type { StatementRun, Verdicts } from '../core/reconciliation/statement.js';
import { createStatementSchedules } from '../core/reconciliation/statement-schedule.js';
import { createStatements, type Statements } from '../core/reconciliation/statements.js';
import { connectDatabase, type Database } from '../platform/database/client.js';
import { acrossTenants } from '../platform/database/tenant-filters.js';
import type { Config } from '../shared/config.js';
import { capabilities } from './capabilities.js';
import type { Deps } from './deps.js';
import { groupBy } from '../shared/group.js';
import type { Tenants } from '../platform/tenants/store.js';

/** The records that a row of a statement can be about, by the prefix of their ids. */
const RECORDS: Readonly<Record<string, { capability: string; collection: string }>> = {
  trf: { capability: 'transfers', collection: 'transfers' },
  bil: { capability: 'bill-payments', collection: 'bill_payments' },
  chg: { capability: 'charges', collection: 'charges' },
  ref: { capability: 'refunds', collection: 'refunds' },
  dep: { capability: 'deposits', collection: 'deposits' },
  dsp: { capability: 'disputes', collection: 'disputes' },
};

const of = (id: string) => RECORDS[id.slice(0, id.indexOf('_'))];

/** The records that Schedules compare. Transfers have a Schedule for each provider. */
const SCHEDULED = [
  { kind: 'charges', port: 'payments' },
  { kind: 'refunds', port: 'payments' },
  { kind: 'disputes', port: 'payments' },
  { kind: 'bill-payments', port: 'bills' },
  { kind: 'deposits', port: 'accounts' },
  { kind: 'virtual-accounts', port: 'accounts', isAnyAge: true },
  { kind: 'card-states', port: 'cards', isAnyAge: true },
  { kind: 'card-fundings', port: 'cards' },
  { kind: 'card-unloads', port: 'cards' },
  { kind: 'card-authorizations', port: 'cards' },
] as const;

/** The Schedules that compare records with their providers. */
export const createComparisonSchedules = ({ config, providers, temporal }: Deps) =>
  createRecordSchedules({
    client: temporal.client,
    taskQueue: config.temporal.taskQueue,
    kinds: SCHEDULED,
    rateLimits: providers.rateLimits,
    settings: config.reconciliation,
  });

/** The Schedules that read the providers' own statements. */
export const createStatementReadings = ({ config, providers, temporal }: Deps) =>
  createStatementSchedules({
    client: temporal.client,
    taskQueue: config.temporal.taskQueue,
    providers,
    settings: config.reconciliation,
  });

/** A comparison that a Schedule starts, and the time between two starts. */
export type ExpectedRun = ScheduledRun & { everyMs: number };

/** The comparisons of this deployment that Schedules start. None while they are turned off. */
export function expectedRuns(
  { reconciliation, deposits }: Pick<Config, 'reconciliation' | 'deposits'>,
  providers: Pick<Providers, 'all' | 'accountProviders' | 'rateLimits'>,
): ExpectedRun[] {
  const kinds = SCHEDULED.filter((each) => limitsOf(each, providers.rateLimits).length > 0);
  const compared = [
    ...providers.all.map(({ name }) => ({ kind: 'transfers', provider: name })),
    ...kinds.map(({ kind }) => ({ kind, provider: null })),
  ];
  const searched = providers.accountProviders.map(({ name }) => ({
    kind: 'deposit-search',
    provider: name,
  }));
  const read = providers.all
    .filter((provider) => provider.ledger !== undefined)
    .map(({ name }) => ({ kind: 'statements', provider: name }));
  const every = ({ days, everyMs }: { days: number; everyMs: number }, runs: ScheduledRun[]) =>
    days === 0 ? [] : runs.map((run) => ({ ...run, everyMs }));
  const { statementDays, everyMs } = reconciliation;
  return [
    ...every(reconciliation, compared),
    ...every({ days: statementDays, everyMs }, read),
    ...every(deposits, searched),
  ];
}

/** The compared records of each capability, by its name. */
export const reconciledRecords = (deps: Deps): Record<string, Reconciled> =>
  Object.fromEntries(
    capabilities.flatMap(({ name, reconciled }) => (reconciled ? [[name, reconciled(deps)]] : [])),
  );

/** The store of statements. A reference that is none of ours is that of a deposit, if the row does not say otherwise. */
export const createStatementStore = (db: Db, breaks: Breaks): Statements =>
  createStatements({
    db,
    breaks,
    recordOf: (provider, reference, of) => ID_OF[of ?? 'deposit'](provider, reference),
  });

/** The ids of records that are derived from those of their providers. */
const ID_OF = { deposit: depositId, refund: deskRefundId, dispute: disputeId };

/** The parts that compare a statement with all that moves money. */
export async function matchingParts(deps: {
  database: { db: Db };
  statements: Statements;
  breaks: Breaks;
  tenants: Tenants;
}): Promise<MatchingDeps> {
  const { db } = deps.database;
  const { statements, breaks } = deps;
  const tenants = (await deps.tenants.list()).map(({ id }) => id);
  return {
    db,
    statements,
    breaks,
    capabilityOf: (id) => of(id)?.capability ?? null,
    known: (ids) => known(db, ids),
    tenants: [...tenants, UNOWNED],
  };
}

/**
 * Compares a statement with the ledger, and keeps the breaks. It reads for longer than the operation limit of the service, so it has
 * a connection of its own.
 */
export const statementMatcher =
  (
    deps: Parameters<typeof matchingParts>[0] & {
      database: Pick<Database, 'wrap'>;
      config: Pick<Config, 'mongodb'>;
    },
  ) =>
  async (run: StatementRun): Promise<Verdicts> => {
    const { wrap } = deps.database;
    const reports = await connectDatabase(deps.config.mongodb, 'bursar-statements', {
      operationLimitMs: 0,
      ...(wrap && { wrap }),
    });
    try {
      return await matchStatement(await matchingParts({ ...deps, database: reports }), run);
    } finally {
      await reports.client.close();
    }
  };

/** Those of these records that exist. A disagreement alone asks, so these are few. */
async function known(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const byCollection = groupBy(ids, (id) => of(id)?.collection ?? null);
  for (const [collection, named] of byCollection) {
    if (collection === null) continue;
    const records = db
      .collection<{ _id: string }>(collection)
      .find({ _id: { $in: named } }, { projection: { _id: 1 }, ...acrossTenants('look_up') });
    for await (const { _id } of records) found.add(_id);
  }
  return found;
}
