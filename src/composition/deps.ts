import { useApproval } from '../core/approvals/use.js';
import { createOperatorActs } from '../core/approvals/operator-acts.js';
import { createApprovals } from '../core/approvals/store.js';
import { createAudit } from '../core/audit/store.js';
import { createAuditVerifications } from '../core/audit/verification.js';
import { createOidc } from '../platform/operators/oidc.js';
import { createOperators } from '../platform/operators/store.js';
import { createApiKeys } from '../platform/api-keys/store.js';
import { createParts, type CoreDeps } from '../core/capability.js';
import type { ConnectionLike } from '@temporalio/client';
import type { Config } from '../shared/config.js';
import { connectDatabase, type Database } from '../platform/database/client.js';
import { markPeppers } from '../platform/api-keys/pepper-register.js';
import { claimDatabase } from '../platform/database/environment.js';
import { asMigrator, migrate } from '../platform/database/migrations.js';
import { watchUniqueIndexes } from '../platform/database/unique-indexes.js';
import { Registry } from 'prom-client';
import { logRaisedAttention } from './attention-log.js';
import { measureCommits } from './commit-metrics.js';
import { measureForwarding } from './forwarding-metrics.js';
import { measureDecisions } from './decision-metrics.js';
import { measureDeliveries } from './webhook-metrics.js';
import { measureOutcomes } from './outcome-metrics.js';
import { logProviderCalls } from './provider-call-log.js';
import { measureProviderCalls } from './provider-call-metrics.js';
import { traceAttempts, traceOutcomes, traceProviderCalls, withCommitSpans } from './spans.js';
import { createTracer, type Tracer } from '../platform/tracing/tracer.js';
import { measureBuild } from '../platform/metrics/build.js';
import { migrations, sealedCollections } from './migrations.js';
import { armFailpoint } from '../shared/failpoints.js';
import { createIdempotency } from '../core/idempotency/store.js';
import { createForwarding } from '../core/commit/forwarding.js';
import { createGroupCommit, type GroupCommit } from '../core/commit/group-commit.js';
import { createCommitProcesses } from '../core/commit/processes.js';
import { OPEN } from '../core/instructions/listing.js';
import { createLog, type Log } from '../shared/log.js';
import { createLedger } from '../core/ledger/index.js';
import { createProviderFaults } from '../core/providers/faults.js';
import { createProviderHealthChecks } from '../core/providers/health.js';
import { createSecretUses } from '../core/providers/secret-uses.js';
import { createProviders } from './providers.js';
import { createStatementStore } from './reconciliation.js';
import { createBreaks } from '../core/reconciliation/breaks.js';
import { createReconciliationRuns } from '../core/reconciliation/last-runs.js';
import { claimSealingKeys, keepSealing } from '../platform/sealing/key-register.js';
import { sealedDatabase } from '../platform/sealing/sealed-database.js';
import { createSealing, type Sealing } from '../platform/sealing/sealing.js';
import { createRateLimits } from '../platform/rate-limits/store.js';
import { createTemporal, type Temporal } from '../platform/temporal/client.js';
import { createTenants } from '../platform/tenants/store.js';
import { createCompletionWaiters, type CompletionWaiters } from '../shared/completion-waiter.js';
import { createProviderEvents, type ProviderEvents } from '../core/provider-events/index.js';
import { forwardedMutations, list, providerEventHandlers } from './capabilities.js';
import { createWebhooks } from '../core/webhooks/index.js';
import { readVersion } from '../shared/version.js';

/** The connected parts that API, worker and command line share. */
export type Deps = Awaited<ReturnType<typeof createDeps>>;

/**
 * The composition root: creates all parts of API, worker and command line, connected to a migrated database. `connection` is
 * that of a worker in the same process.
 */
export async function createDeps(config: Config, name: string, connection?: ConnectionLike) {
  const log = createLog({ level: config.logLevel, debugSample: config.debugSample, name });
  armFailpoint(config.failpoint);
  const tracer = await createTracer(config.tracing, { service: `bursar-${name}`, log });
  await migrateFirst(config);
  const { sealing, database, sealingReport } = await connectSealed(config, { name, log });
  const { db } = database;
  const { environment, keyPeppers: peppers } = config;
  const tenants = createTenants({ db, environment });
  const apiKeys = createApiKeys({ db, peppers, environment, tenants, log });
  const { registry, providers, secretUses } = openProviders(config, { tracer, db, sealing, log });
  const temporal = createTemporal(config.temporal, connection);
  const commits = createCommits(config, { database, temporal, registry, sealing, tracer, log });
  const { webhooks, uniqueIndexes, commitProcesses, forwarding, groupCommit } = commits;
  const core = {
    config,
    database,
    rateLimits: createRateLimits({ db, log }),
    groupCommit,
    client: temporal.client,
    startsEagerly: temporal.startsEagerly,
    providers,
    sealing,
    tenants,
    completionWaiters: createCompletionWaiters(),
    log,
  };
  lookOnChange(groupCommit, core.completionWaiters);
  const capabilities = createParts(list, core);
  measureDecisions(registry, capabilities.parts.cardAuthorizations.decisions, providers.issuers);
  const providerEvents: ProviderEvents = createProviderEvents({
    ...core,
    handlers: providerEventHandlers({ ...core, ...capabilities.parts }),
  });

  return {
    config,
    log,
    registry,
    tracer,
    database,
    tenants,
    apiKeys,
    ...createOperatorParts(core),
    providers,
    ...createProviderStates({ db, providers, config, log }),
    sealing,
    temporal,
    ...commits,
    completionWaiters: core.completionWaiters,
    ...capabilities.parts,
    providerEvents,
    ledger: createLedger({ db, ...core }),
    idempotency: createIdempotency(database, sealing),
    rateLimits: core.rateLimits,

    /** Waits until work in progress has ended, then closes the connections. */
    async close(): Promise<void> {
      await idle([providerEvents, capabilities, groupCommit]);
      // A commit that was in progress may have started a workflow.
      await idle([capabilities]);
      await webhooks.close();
      await forwarding.close();
      await idle([apiKeys, core.rateLimits, commitProcesses, sealingReport, secretUses]);
      await uniqueIndexes.close();
      await temporal.close();
      await tracer.close();
      await database.client.close();
    },
  };
}

/** Clients that wait for a record that this process has changed need not wait for the next poll. */
const lookOnChange = (groupCommit: GroupCommit, waiters: CompletionWaiters): void =>
  groupCommit.onChanged((changes) =>
    waiters.look(changes.filter(({ after }) => !isUnderWay(after)).map(({ after }) => after._id)),
  );

const isUnderWay = (record: object): boolean =>
  'status' in record && OPEN.some((status) => status === record.status);

/** Connects to the database, with its sealed fields in clear for this process. */
async function connectSealed(config: Config, { name, log }: { name: string; log: Log }) {
  const sealing = createSealing(config.sealingKeys);
  const wrap = sealedDatabase(sealing, sealedCollections);
  // The command line has no operation limit, because operators wait for long reads.
  const limit = name === 'cli' ? { operationLimitMs: 0 } : {};
  const database = await connectDatabase(config.mongodb, `bursar-${name}`, { ...limit, wrap });
  return { sealing, database, sealingReport: keepSealing(database.db, sealing, log) };
}

/** The metrics of one process, with its release, and the providers whose calls they count. */
function openProviders(
  config: Config,
  { tracer, log, ...parts }: { tracer: Tracer; log: Log } & Parameters<typeof createSecretUses>[0],
) {
  const secretUses = createSecretUses({ ...parts, log });
  const registry = new Registry();
  measureBuild(registry);
  const observe = all(
    measureProviderCalls(registry, tracer),
    traceProviderCalls(tracer),
    logProviderCalls(log, tracer),
  );
  const providers = createProviders(config, observe, (secret) => secretUses.touch(secret));
  return { registry, providers, secretUses };
}

/** The commit engine of one process, with the webhooks that it sends, observed. */
function createCommits(
  config: Config,
  {
    database,
    temporal,
    registry,
    sealing,
    tracer,
    log,
  }: {
    database: Database;
    temporal: Temporal;
    registry: Registry;
    sealing: Sealing;
    tracer: Tracer;
    log: Log;
  },
) {
  const { db } = database;
  const observe = all(measureDeliveries(registry), traceAttempts(tracer));
  const { client } = temporal;
  const webhooks = createWebhooks({ database, client, config, sealing, log, observe });
  const uniqueIndexes = watchUniqueIndexes({ db, migrations, log });
  const commitProcesses = createCommitProcesses(db, { release: readVersion(), log });
  const forwarding = createForwarding(commitProcesses, forwardedMutations);
  const countServed = measureForwarding(registry, { forwarding, processes: commitProcesses });
  const groupCommit = withCommitSpans(
    createGroupCommit(database, webhooks.outbox, uniqueIndexes.lacks, forwarding),
    tracer,
  );
  observeCommits(groupCommit, { registry, tracer, log });
  return { webhooks, uniqueIndexes, commitProcesses, forwarding, countServed, groupCommit };
}

/** Tells all of them, in this order, of what happened. */
const all =
  <T>(...observers: readonly ((happened: T) => void)[]) =>
  (happened: T): void => {
    for (const observe of observers) observe(happened);
  };

/** Logs, measures and traces what commits change. */
function observeCommits(
  commit: GroupCommit,
  { registry, tracer, log }: { registry: Registry; tracer: Tracer; log: Log },
) {
  traceOutcomes(commit, tracer);
  logRaisedAttention(commit, log);
  measureOutcomes(registry, commit);
  measureCommits(registry, commit);
}

/** The stored results of reconciliations. */
function createReconciliation(db: Database['db']) {
  const breaks = createBreaks(db);
  return {
    breaks,
    reconciliationRuns: createReconciliationRuns(db),
    statements: createStatementStore(db, breaks),
  };
}

/** The operators, their acts and the approvals of these, and the differences that they look at. */
function createOperatorParts({
  database,
  config,
  client,
  log,
}: Pick<CoreDeps, 'database' | 'config' | 'client' | 'log'>) {
  const { keyPeppers: peppers, environment, approvals: policy } = config;
  const { db } = database;
  const audit = createAudit(database, useApproval);
  const approvals = createApprovals({ db, audit });
  return {
    operators: createOperators({ db, peppers, environment }),
    oidc: config.oidc && createOidc(config.oidc),
    audit,
    auditVerifications: createAuditVerifications({ db, audit, client, config, log }),
    approvals,
    operatorActs: createOperatorActs({ db, audit, approvals, policy }),
    ...createReconciliation(db),
  };
}

/** The faults of providers, and the health checks that end them. */
function createProviderStates({
  config,
  ...parts
}: Pick<CoreDeps, 'config' | 'providers' | 'log'> & Pick<Database, 'db'>) {
  const providerFaults = createProviderFaults(parts);
  const everyMs = config.providerHealthEveryMs;
  const providerHealth = createProviderHealthChecks({ ...parts, faults: providerFaults, everyMs });
  return { providerFaults, providerHealth };
}

/** Waits for the parts in sequence, because a part that ends may hand work to the next one. */
async function idle(parts: readonly { idle(): Promise<void> }[]): Promise<void> {
  for (const part of parts) await part.idle();
}

/**
 * Migrates on a connection of its own, because building an index takes longer than the operation limit of the service.
 */
export async function migrateFirst(config: Config): Promise<void> {
  const { client, db } = await connectDatabase(config.mongodb, 'bursar-migrations', {
    operationLimitMs: 0,
  });
  try {
    await asMigrator(db, async () => {
      await claimDatabase(db, config.environment);
      await markPeppers(db, config.keyPeppers);
      await migrate(db, migrations);
    });
    await claimSealingKeys(db, createSealing(config.sealingKeys));
  } finally {
    await client.close();
  }
}
