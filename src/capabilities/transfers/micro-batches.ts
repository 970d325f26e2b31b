import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import type { TransferMicroBatchInput } from './workflow-contract.js';
import type { Transfer } from './transfer.js';

/** Largest micro-batch: its transfers share the cost of one workflow, which still ends within moments. */
export const MAX_MICRO_BATCH = 25;

/** The id of the workflow that makes the first submissions of several transfers. `id` is that of the first transfer. */
export const transferMicroBatchWorkflowId = (id: string) => `transfer-micro-batch/${id}`;

/**
 * Groups transfers into micro-batches by provider, so that a slow provider delays no other. A transfer without the
 * recipient's name needs a name enquiry first and is alone in its group. A group has at most `MAX_MICRO_BATCH` transfers.
 */
export function microBatchesOf(transfers: readonly Transfer[]): Transfer[][] {
  const microBatches = new Map<string, Transfer[]>();
  for (const transfer of transfers) {
    const { provider, recipient, _id: id } = transfer;
    const key = recipient.name === null ? id : provider;
    const microBatch = microBatches.get(key);
    if (microBatch) microBatch.push(transfer);
    else microBatches.set(key, [transfer]);
  }
  return [...microBatches.values()].flatMap(inParts);
}

const inParts = (transfers: Transfer[]): Transfer[][] =>
  Array.from({ length: Math.ceil(transfers.length / MAX_MICRO_BATCH) }, (_, i) =>
    transfers.slice(i * MAX_MICRO_BATCH, (i + 1) * MAX_MICRO_BATCH),
  );

/** Creates the starter of micro-batches. Their workflow has no signals, so it can only be started. */
export function createMicroBatchStarter(settings: StarterSettings) {
  const { start } = createWorkflowStarter<MicroBatch>({
    ...settings,
    workflow: 'transferMicroBatch',
    workflowId: ({ _id }) => transferMicroBatchWorkflowId(_id),
    toStart({ provider, transfers }) {
      const refs = transfers.map(({ tenant_id: tenantId, _id: id }) => ({ tenantId, id }));
      const input: TransferMicroBatchInput = {
        rateLimitKey: transferRateLimitKey(provider),
        transfers: refs,
      };
      const summary = `${transfers.length} transfers via ${provider}`;
      return { input, tenantId: null, provider, reference: null, amountMinor: null, summary };
    },
  });
  return {
    start: (first: Transfer, others: Transfer[]): Promise<void> =>
      start({ _id: first._id, provider: first.provider, transfers: [first, ...others] }),
  };
}

type MicroBatch = { _id: string; provider: string; transfers: Transfer[] };
