import { createApiKeys } from './api-keys/store.js';
import { createCards } from './cards/deps.js';
import type { Config } from './config.js';
import { connectDatabase } from './database/client.js';
import { claimDatabase } from './database/environment.js';
import { migrate } from './database/migrations.js';
import { migrations } from './database/schema.js';
import { armFailpoint } from './failpoints.js';
import { createIdempotency } from './idempotency/store.js';
import { createGroupCommit } from './ledger/group-commit.js';
import { createLog } from './log.js';
import { chargeApplier } from './payments/charges/callback.js';
import { createPayments } from './payments/deps.js';
import { refundApplier } from './payments/refunds/callback.js';
import { createProviders } from './providers/registry.js';
import { createRateLimits } from './rate-limits/store.js';
import { createTemporal } from './temporal/client.js';
import { createTenants } from './tenants/store.js';
import { transferApplier } from './transfers/callback.js';
import { createTransferParts } from './transfers/deps.js';
import { createWatches } from './watch.js';
import { createCallbacks } from './webhooks/callbacks.js';
import { createWebhooks } from './webhooks/outbound/webhooks.js';

export type Deps = Awaited<ReturnType<typeof createDeps>>;

/** The composition root: everything that API, worker and command line are made of, connected and migrated. */
export async function createDeps(config: Config, name: string) {
  const log = createLog({ level: config.logLevel, name });
  armFailpoint(config.failpoint);
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
  const watches = createWatches();
  const shared = { config, database, groupCommit, client, providers, watches, log };
  const transfers = createTransferParts(shared);
  const cards = createCards(shared);
  const payments = createPayments({ ...shared, tenants });
  const appliers = {
    transfer: transferApplier({ ...transfers, log }),
    charge: chargeApplier({ ...payments, log }),
    refund: refundApplier({ ...payments, log }),
  };
  const rateLimits = createRateLimits({ db, log });

  return {
    config,
    log,
    database,
    tenants,
    apiKeys,
    providers,
    temporal,
    groupCommit,
    watches,
    ...transfers,
    ...cards,
    ...payments,
    webhooks,
    idempotency: createIdempotency(database),
    callbacks: createCallbacks(database, { appliers, log }),
    rateLimits,

    /** Lets what is under way end, then closes the connections. */
    async close(): Promise<void> {
      const { cardStarters, authorizations, cardEvents } = cards;
      await idle([authorizations.decisions, groupCommit]);
      await idle([transfers.starter, transfers.batchStarter]);
      await idle([cardStarters, authorizations.starter, cardEvents, payments.paymentStarters]);
      await webhooks.close();
      await idle([apiKeys, rateLimits]);
      await temporal.close();
      await database.client.close();
    },
  };
}

/** One after the other: what ends may still hand something to the next. */
async function idle(parts: readonly { idle(): Promise<void> }[]): Promise<void> {
  for (const part of parts) await part.idle();
}

/** On a connection of its own: an index of a large collection takes longer than any operation of the service may. */
async function migrateFirst(config: Config): Promise<void> {
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
