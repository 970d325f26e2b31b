import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import type { TransferMicroBatchInput } from './workflow-contract.js';
import type { Transfer } from './transfer.js';

/** Transfers of one wave: enough to make its cost small, few enough to end within moments. */
export const MAX_MICRO_BATCH = 25;

/** The workflow that tries the first orders of several transfers. Named by its first. */
export const transferMicroBatchWorkflowId = (id: string) => `transfer-micro-batch/${id}`;

/**
 * What can set out together: by provider, for a slow one must hold back no other. Who has no name yet has to be asked
 * for first, and sets out alone.
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
  return [...microBatches.values()];
}

/** Starts the workflow of a wave. It takes no commands and is not woken. */
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
