import { createOperatorActs } from '../core/approvals/operator-acts.js';
import { createApprovals } from '../core/approvals/store.js';
import { createAudit } from '../core/audit/store.js';
import { createOperators } from '../platform/operators/store.js';
import { createApiKeys } from '../platform/api-keys/store.js';
import { createParts, type CoreDeps } from '../core/capability.js';
import type { Config } from '../shared/config.js';
import { connectDatabase, type Database } from '../platform/database/client.js';
import { claimDatabase } from '../platform/database/environment.js';
import { migrate } from '../platform/database/migrations.js';
import { watchUniqueIndexes } from '../platform/database/unique-indexes.js';
import { migrations } from './migrations.js';
import { armFailpoint } from '../shared/failpoints.js';
import { createIdempotency } from '../core/idempotency/store.js';
import { createForwarding } from '../core/commit/forwarding.js';
import { createGroupCommit } from '../core/commit/group-commit.js';
import { createCommitProcesses } from '../core/commit/processes.js';
import { createLog } from '../shared/log.js';
import { createLedger } from '../core/ledger/index.js';
import { createProviderFaults } from '../core/providers/faults.js';
import { createProviderHealthChecks } from '../core/providers/health.js';
import { createProviders } from '../core/providers/registry.js';
import { createSealing } from '../platform/sealing/sealing.js';
import { createRateLimits } from '../platform/rate-limits/store.js';
import { createTemporal } from '../platform/temporal/client.js';
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
  await migrateFirst(config);
  // The command line has no operation limit, because operators wait for long reads.
  const limit = name === 'cli' ? { operationLimitMs: 0 } : {};
  const database = await connectDatabase(config.mongodb, `bursar-${name}`, limit);

  const { db } = database;
  const tenants = createTenants({ db, environment: config.environment });
  const { environment, keyPepper: pepper } = config;
  const apiKeys = createApiKeys({ db, pepper, environment, tenants, log });
  const providers = createProviders(config);
  const sealing = createSealing(config.sealingKeys);
  const temporal = createTemporal(config.temporal);
  const { client } = temporal;
  const webhooks = createWebhooks({ database, client, config, log });
  const uniqueIndexes = watchUniqueIndexes({ db, migrations, log });
  const commitProcesses = createCommitProcesses(db, { release: readVersion(), log });
  const forwarding = createForwarding(commitProcesses, forwardedMutations);
  const groupCommit = createGroupCommit(database, webhooks.outbox, uniqueIndexes.lacks, forwarding);
  const completionWaiters = createCompletionWaiters();
  const core = {
    config,
    database,
    groupCommit,
    client,
    providers,
    sealing,
    tenants,
    completionWaiters,
    log,
  };
  const capabilities = createParts(list, core);
  const providerEvents: ProviderEvents = createProviderEvents({
    ...core,
    handlers: providerEventHandlers({ ...core, ...capabilities.parts }),
  });
  const rateLimits = createRateLimits({ db, log });

  return {
    config,
    log,
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
    completionWaiters,
    ...capabilities.parts,
    providerEvents,
    webhooks,
    ledger: createLedger({ db, client, config, log }),
    idempotency: createIdempotency(database, sealing),
    rateLimits,

    /** Waits until work in progress has ended, then closes the connections. */
    async close(): Promise<void> {
      await idle([providerEvents, capabilities, groupCommit]);
      // A commit that was in progress may have started a workflow.
      await idle([capabilities]);
      await webhooks.close();
      await forwarding.close();
      await idle([apiKeys, rateLimits, commitProcesses]);
      await uniqueIndexes.close();
      await temporal.close();
      await database.client.close();
    },
  };
}

/** The operators, their acts and the approvals of these. */
function createOperatorParts(database: Database, config: Config) {
  const { keyPepper: pepper, environment, approvals: policy } = config;
  const { db } = database;
  const audit = createAudit(database);
  const approvals = createApprovals({ db, audit });
  return {
    operators: createOperators({ db, pepper, environment }),
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
    await migrate(db, migrations);
  } finally {
    await client.close();
  }
}
