import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { archivedRecords } from '../../core/ledger/archive.js';
import { supervised } from '../../core/supervision/supervision.js';
import { createWorkflowStarter } from '../../core/supervision/workflow-starter.js';
import { bulkTransfersQueue } from '../../platform/temporal/queues.js';
import { transferCapability, type TransferParts } from '../transfers/index.js';
import { bulkTransferOperations } from './api.js';
import { bulkTransfers, bulkTransferWorkflowId, type BulkTransfer } from './record.js';
import { createBulkTransferCreation } from './create.js';
import { bulkTransferRoutes } from './routes.js';
import { createBulkTransferStore } from './store.js';
import { CHUNK_SIZE, CHUNKS_AT_ONCE, type BulkTransferInput } from './workflow-contract.js';

/** Interval of the query for ended bulk transfers: one takes a second or more, and the query costs more than for a transfer. */
const CHECK_EVERY_MS = 200;

/** The parts of bulk transfers. */
type BulkTransferParts = ReturnType<typeof createBulkTransferParts>;

function createBulkTransferParts(core: CoreDeps, { transfers }: { transfers: TransferParts }) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const { stallTimeoutMs } = config.instructions;
  const store = createBulkTransferStore(database, stallTimeoutMs);
  const starter = createBulkTransferStarter(core);
  return {
    store,
    starter,
    waiter: completionWaiters.create({
      findEnded: (owned) => store.ended(owned),
      everyMs: CHECK_EVERY_MS,
    }),
    create: createBulkTransferCreation({
      groupCommit,
      starter,
      enquiries: transfers.enquiries,
      sealAhead: transfers.store.sealAhead,
      provider: () => providers.forTransfers().name,
      intake: transfers.intake,
    }),
    idle: starter.idle,
  };
}

/** Creates the starter of the workflow that submits the transfers of a bulk transfer, chunk by chunk. */
function createBulkTransferStarter(core: CoreDeps) {
  const settings = starterSettings(core);
  return createWorkflowStarter<BulkTransfer>({
    ...settings,
    workflow: 'bulkTransfer',
    workflowId: ({ _id }) => bulkTransferWorkflowId(_id),
    toStart({ _id: id, tenant_id: tenantId, provider, items }) {
      const count = items.length;
      const taskQueue = bulkTransfersQueue(settings.taskQueue, provider);
      const bounds = { chunkSize: CHUNK_SIZE, chunksAtOnce: CHUNKS_AT_ONCE };
      const input: BulkTransferInput = { id, tenantId, count, taskQueue, ...bounds };
      const summary = `${count} transfers via ${provider}`;
      return { input, tenantId, provider, reference: id, amountMinor: null, summary };
    },
  });
}

/** The capability `bulk-transfers`: up to a thousand transfers in one request and one commit. */
export const bulkTransferCapability = defineCapability({
  name: 'bulk-transfers',
  servedBy: 'transfers',
  needs: { transfers: transferCapability },
  collections: [bulkTransfers],
  archived: [archivedRecords({ collection: bulkTransfers, ended: { next_check_at: null } })],
  operations: bulkTransferOperations,
  create: createBulkTransferParts,
  routes: bulkTransferRoutes,
  listsAttention: false,
  supervised: (deps: { bulkTransfers: BulkTransferParts }) => ({
    bulk_transfers: supervised(deps.bulkTransfers.store, deps.bulkTransfers.starter),
  }),
});
