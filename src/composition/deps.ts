import { useApproval } from '../core/approvals/use.js';
import { createOperatorActs } from '../core/approvals/operator-acts.js';
import { createApprovals } from '../core/approvals/store.js';
import { createAudit } from '../core/audit/store.js';
import { createOidc } from '../platform/operators/oidc.js';
import { createOperators } from '../platform/operators/store.js';
import { createApiKeys } from '../platform/api-keys/store.js';
import { createParts, type CoreDeps } from '../core/capability.js';
import type { Config } from '../shared/config.js';
import { connectDatabase, type Database } from '../platform/database/client.js';
import { claimDatabase, markPepper } from '../platform/database/environment.js';
import { migrate } from '../platform/database/migrations.js';
import { watchUniqueIndexes } from '../platform/database/unique-indexes.js';
import { Registry } from 'prom-client';
import { logRaisedAttention } from './attention-log.js';
import { measureCommits } from './commit-metrics.js';
import { measureDecisions } from './decision-metrics.js';
import { measureDeliveries } from './webhook-metrics.js';
import { measureOutcomes } from './outcome-metrics.js';
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
import { createLog, type Log } from '../shared/log.js';
import { createLedger } from '../core/ledger/index.js';
import { createProviderFaults } from '../core/providers/faults.js';
import { createProviderHealthChecks } from '../core/providers/health.js';
import { createProviders } from './providers.js';
import { claimSealingKeys, keepSealing } from '../platform/sealing/key-register.js';
import { sealedDatabase } from '../platform/sealing/sealed-database.js';
import { createSealing, type Sealing } from '../platform/sealing/sealing.js';
import { createRateLimits } from '../platform/rate-limits/store.js';
import { createTemporal, type Temporal } from '../platform/temporal/client.js';
import { createTenants } from '../platform/tenants/store.js';
import { createCompletionWaiters } from '../shared/completion-waiter.js';
import { createProviderEvents, type ProviderEvents } from '../core/provider-events/index.js';
import { forwardedMutations, list, providerEventHandlers } from './capabilities.js';
import { createWebhooks } from '../core/webhooks/index.js';
import { readVersion } from '../shared/version.js';

/** The connected parts that API, worker and command line share. */
export type Deps = Awaited<ReturnType<typeof createDeps>>;

/** The composition root: creates all parts of API, worker and command line, connected to a migrated database. */
export async function createDeps(config: Config, name: string) {
  const log = createLog({ level: config.logLevel, name });
  armFailpoint(config.failpoint);
  const tracer = await createTracer(config.tracing, { service: `bursar-${name}`, log });
  await migrateFirst(config);
  const { sealing, database, sealingReport } = await connectSealed(config, { name, log });
  const { db } = database;
  const { environment, keyPepper: pepper } = config;
  const tenants = createTenants({ db, environment });
  const apiKeys = createApiKeys({ db, pepper, environment, tenants, log });
  const { registry, providers } = createMeasuredProviders(config, tracer);
  const temporal = createTemporal(config.temporal);
  const commits = createCommits(config, { database, temporal, registry, sealing, tracer, log });
  const { webhooks, uniqueIndexes, commitProcesses, forwarding, groupCommit } = commits;
  const core = {
    config,
    database,
    rateLimits: createRateLimits({ db, log }),
    groupCommit,
    client: temporal.client,
    providers,
    sealing,
    tenants,
    completionWaiters: createCompletionWaiters(),
    log,
  };
  const capabilities = createParts(list, core);
  measureDecisions(registry, capabilities.parts.cardAuthorizations.decisions);
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
    ...createOperatorParts(database, config),
    providers,
    ...createProviderStates({ db, providers, config, log }),
    sealing,
    temporal,
    groupCommit,
    commitProcesses,
    uniqueIndexes,
    completionWaiters: core.completionWaiters,
    ...capabilities.parts,
    providerEvents,
    webhooks,
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
      await idle([apiKeys, core.rateLimits, commitProcesses, sealingReport]);
      await uniqueIndexes.close();
      await temporal.close();
      await tracer.close();
      await database.client.close();
    },
  };
}

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
function createMeasuredProviders(config: Config, tracer: Tracer) {
  const registry = new Registry();
  measureBuild(registry);
  const observe = both(measureProviderCalls(registry), traceProviderCalls(tracer));
  return { registry, providers: createProviders(config, observe) };
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
  const observe = both(measureDeliveries(registry), traceAttempts(tracer));
  const { client } = temporal;
  const webhooks = createWebhooks({ database, client, config, sealing, log, observe });
  const uniqueIndexes = watchUniqueIndexes({ db, migrations, log });
  const commitProcesses = createCommitProcesses(db, { release: readVersion(), log });
  const forwarding = createForwarding(commitProcesses, forwardedMutations);
  const groupCommit = withCommitSpans(
    createGroupCommit(database, webhooks.outbox, uniqueIndexes.lacks, forwarding),
    tracer,
  );
  observeCommits(groupCommit, { registry, tracer, log });
  return { webhooks, uniqueIndexes, commitProcesses, forwarding, groupCommit };
}

/** Tells both of what happened. */
const both =
  <T>(one: (happened: T) => void, other: (happened: T) => void) =>
  (happened: T): void => {
    one(happened);
    other(happened);
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

/** The operators, their acts and the approvals of these. */
function createOperatorParts(database: Database, config: Config) {
  const { keyPepper: pepper, environment, approvals: policy } = config;
  const { db } = database;
  const audit = createAudit(database, useApproval);
  const approvals = createApprovals({ db, audit });
  return {
    operators: createOperators({ db, pepper, environment }),
    oidc: config.oidc && createOidc(config.oidc),
    audit,
    approvals,
    operatorActs: createOperatorActs({ db, audit, approvals, policy }),
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
    await claimDatabase(db, config.environment);
    await markPepper(db, config.keyPepper);
    await migrate(db, migrations);
    await claimSealingKeys(db, createSealing(config.sealingKeys));
  } finally {
    await client.close();
  }
}
