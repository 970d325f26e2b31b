import { bulkTransfers as bulkTransferRecords } from './bulk-transfer.js';
import { bulkTransferRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import type { BatchStarter } from './starter.js';
import type { Batches } from './store.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { createBatchStarter } from './starter.js';
import { createBatches } from './store.js';
import { createBulkCreation } from './create.js';
import type { NameEnquiry } from '../banks/name-enquiry.js';

/** A batch takes a second or more, and to look at one costs more than to look at a transfer. */
const LOOK_EVERY_MS = 200;

/** What takes transfers in batches, put together. */
export function bulkTransfers(
  deps: CoreDeps & {
    nameEnquiry: NameEnquiry;
    /** Where new transfers go. */
    provider: { name: string };
  },
) {
  const { config, nameEnquiry, client, log } = deps;
  const { taskQueue } = config.temporal;
  const bulkTransfers = createBatches(
    deps.database,
    deps.groupCommit,
    config.instructions.stallTimeoutMs,
  );
  const bulkTransferStarter = createBatchStarter({ client, taskQueue, log });
  const provider = deps.provider.name;
  return {
    bulkTransfers,
    bulkTransferStarter,
    bulkTransferWatch: deps.completionWaiters.create({
      findEnded: (ids) => bulkTransfers.ended(ids),
      everyMs: LOOK_EVERY_MS,
    }),
    createBulk: createBulkCreation({
      bulkTransfers,
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
  routes: bulkTransferRoutes,
  supervised: ({
    bulkTransfers,
    bulkTransferStarter,
  }: {
    bulkTransfers: Batches;
    bulkTransferStarter: BatchStarter;
  }) => ({
    bulk_transfers: supervised(bulkTransfers, bulkTransferStarter),
  }),
});
