import { bulkTransfers as bulkTransferRecords } from './bulk-transfer.js';
import { bulkTransferOperations } from './api.js';
import { bulkTransferRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import type { BulkTransferStarter } from './starter.js';
import type { BulkTransferStore } from './store.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { createBulkTransferStarter } from './starter.js';
import { createBulkTransferStore } from './store.js';
import { createBulkTransferCreation } from './create.js';
import type { NameEnquiry } from '../banks/name-enquiry.js';

/** A batch takes a second or more, and to look at one costs more than to look at a transfer. */
const CHECK_EVERY_MS = 200;

/** What takes transfers in batches, put together. */
export function createBulkTransferParts(
  deps: CoreDeps & {
    nameEnquiry: NameEnquiry;
    /** Where new transfers go. */
    provider: { name: string };
  },
) {
  const { config, nameEnquiry, client, log } = deps;
  const { taskQueue } = config.temporal;
  const store = createBulkTransferStore(
    deps.database,
    deps.groupCommit,
    config.instructions.stallTimeoutMs,
  );
  const bulkTransferStarter = createBulkTransferStarter({ client, taskQueue, log });
  const provider = deps.provider.name;
  return {
    bulkTransfers: store,
    bulkTransferStarter,
    bulkTransferWatch: deps.completionWaiters.create({
      findEnded: (ids) => store.ended(ids),
      everyMs: CHECK_EVERY_MS,
    }),
    createBulk: createBulkTransferCreation({
      store,
      starter: bulkTransferStarter,
      nameEnquiry,
      provider,
    }),
  };
}

/** The capability `bulk-transfers`. */
export const bulkTransferCapability = defineCapability({
  name: 'bulk-transfers',
  collections: [bulkTransferRecords],
  operations: bulkTransferOperations,
  routes: bulkTransferRoutes,
  supervised: ({
    bulkTransfers,
    bulkTransferStarter,
  }: {
    bulkTransfers: BulkTransferStore;
    bulkTransferStarter: BulkTransferStarter;
  }) => ({
    bulk_transfers: supervised(bulkTransfers, bulkTransferStarter),
  }),
});
