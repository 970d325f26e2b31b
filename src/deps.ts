import type { Client } from '@temporalio/client';
import { createApiKeys } from './api-keys/store.js';
import type { Config } from './config.js';
import { connectDatabase, type Database } from './database/client.js';
import { migrate } from './database/migrations.js';
import { migrations } from './database/schema.js';
import { createIdempotency } from './idempotency/store.js';
import { createGroupCommit, type GroupCommit } from './ledger/group-commit.js';
import { createLog, type Log } from './log.js';
import { createProviders, type Providers } from './providers/registry.js';
import { createTemporal } from './temporal/client.js';
import { createTenants } from './tenants/store.js';
import { createBatchStarter } from './transfers/batch-starter.js';
import { createBatches } from './transfers/batches.js';
import { createBulkCreation } from './transfers/create-bulk.js';
import { createBankList } from './transfers/bank-list.js';
import { createTransferCreation } from './transfers/create.js';
import { createNameEnquiry, type NameEnquiry } from './transfers/name-enquiry.js';
import { createTransferStarter } from './transfers/starter.js';
import { createTransfers } from './transfers/store.js';
import { createWatch } from './watch.js';
import { createCallbacks } from './webhooks/callbacks.js';
import { createWebhooks } from './webhooks/out/webhooks.js';

/** A batch takes a second or more, and to look at one costs more than to look at a transfer. */
const BATCHES_EVERY_MS = 200;

export type Deps = Awaited<ReturnType<typeof createDeps>>;

/** The composition root: everything that API, worker and command line are made of, connected and migrated. */
export async function createDeps(config: Config, name: string) {
  const log = createLog({ level: config.logLevel, name });
  await migrateFirst(config);
  // Of the command line, people wait for long reads; of a service, nobody does.
  const limit = name === 'cli' ? { operationLimitMs: 0 } : {};
  const database = await connectDatabase(config.mongodb, `bursar-${name}`, limit);

  const { db } = database;
  const tenants = createTenants({ db, environment: config.environment });
  const { environment, keyPepper: pepper } = config;
  const apiKeys = createApiKeys({ db, pepper, environment, tenants, log });
  const providers = createProviders(config);
  const temporal = createTemporal(config.temporal);
  const { client } = temporal;
  const webhooks = createWebhooks({ database, client, config, log });
  const groupCommit = createGroupCommit(database, webhooks.outbox);
  const transfers = createTransfers(database, groupCommit, config.transfers.sweepSlackMs);
  const { attentionAfterMs, pollMaxMs, nameEnquiryTimeoutMs } = config.transfers;
  const starter = createTransferStarter({
    client,
    taskQueue: config.temporal.taskQueue,
    policy: { attentionAfterMs, pollMaxMs },
    log,
  });
  const nameEnquiry = createNameEnquiry(providers.forTransfers, nameEnquiryTimeoutMs);
  const createTransfer = createTransferCreation({
    transfers,
    starter,
    nameEnquiry,
    provider: providers.forTransfers.name,
  });

  const bulk = createBulkTransfers({
    config,
    database,
    groupCommit,
    client,
    nameEnquiry,
    providers,
    log,
  });

  return {
    config,
    log,
    database,
    tenants,
    apiKeys,
    providers,
    temporal,
    groupCommit,
    transfers,
    transferWatch: createWatch({ findEnded: (ids) => transfers.ended(ids) }),
    starter,
    nameEnquiry,
    bankList: createBankList(providers.forTransfers),
    createTransfer,
    ...bulk,
    webhooks,
    idempotency: createIdempotency(database),
    callbacks: createCallbacks(database, { transfers, starter, log }),

    /** Lets what is under way end, then closes the connections. */
    async close(): Promise<void> {
      await groupCommit.idle();
      await starter.idle();
      await bulk.batchStarter.idle();
      await webhooks.close();
      await apiKeys.idle();
      await temporal.close();
      await database.client.close();
    },
  };
}

/** Everything that takes transfers in batches. */
function createBulkTransfers(deps: {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  nameEnquiry: NameEnquiry;
  providers: Providers;
  log: Log;
}) {
  const { config, nameEnquiry, client, log } = deps;
  const { taskQueue } = config.temporal;
  const batches = createBatches(deps.database, deps.groupCommit, config.transfers.sweepSlackMs);
  const batchStarter = createBatchStarter({ client, taskQueue, log });
  const provider = deps.providers.forTransfers.name;
  return {
    batches,
    batchStarter,
    batchWatch: createWatch({
      findEnded: (ids) => batches.ended(ids),
      everyMs: BATCHES_EVERY_MS,
    }),
    createBulk: createBulkCreation({ batches, starter: batchStarter, nameEnquiry, provider }),
  };
}

/** On a connection of its own: an index of a large collection takes longer than any operation of the service may. */
async function migrateFirst(config: Config): Promise<void> {
  const { client, db } = await connectDatabase(config.mongodb, 'bursar-migrations', {
    operationLimitMs: 0,
  });
  try {
    await migrate(db, migrations);
  } finally {
    await client.close();
  }
}
