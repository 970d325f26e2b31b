import type { Shared } from '../shared.js';
import { createBatchStarter } from './batch-starter.js';
import { createBatches } from './batches.js';
import { createBulkCreation } from './create-bulk.js';
import type { NameEnquiry } from './name-enquiry.js';

/** A batch takes a second or more, and to look at one costs more than to look at a transfer. */
const LOOK_EVERY_MS = 200;

/** What takes transfers in batches, put together. */
export function bulkTransfers(
  deps: Shared & {
    nameEnquiry: NameEnquiry;
    /** Where new transfers go. */
    provider: { name: string };
  },
) {
  const { config, nameEnquiry, client, log } = deps;
  const { taskQueue } = config.temporal;
  const batches = createBatches(deps.database, deps.groupCommit, config.transfers.sweepSlackMs);
  const batchStarter = createBatchStarter({ client, taskQueue, log });
  const provider = deps.provider.name;
  return {
    batches,
    batchStarter,
    batchWatch: deps.watches.create({
      findEnded: (ids) => batches.ended(ids),
      everyMs: LOOK_EVERY_MS,
    }),
    createBulk: createBulkCreation({ batches, starter: batchStarter, nameEnquiry, provider }),
  };
}
