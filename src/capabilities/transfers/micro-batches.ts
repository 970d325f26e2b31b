import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import type { TransferMicroBatchInput } from './workflow-contract.js';
import type { Transfer } from './transfer.js';

/** Largest micro-batch: its transfers share the cost of one workflow, which still ends within moments. */
export const MAX_MICRO_BATCH = 25;

/** Transfers a second that one process starts without a pause. A workflow each costs little at this rate. */
const STARTS_WITHOUT_PAUSE = 25;

/** Milliseconds that each further transfer a second adds to the pause. */
const PAUSE_STEP_MS = 4;

/** Longest pause, from 50 transfers a second on. */
const MAX_PAUSE_MS = 100;

/**
 * Returns the pause in milliseconds after a start of `count` transfers, during which the next ones gather. It depends on
 * the transfers of the last second. Under load, transfers share a workflow; at a low rate, none of them waits (decision
 * 12). There is no pause after a full micro-batch. `now` is a monotonic clock in milliseconds.
 */
export function createStartPause(now: () => number = () => performance.now()) {
  const starts: { at: number; count: number }[] = [];
  return function pauseAfter(count: number): number {
    const at = now();
    starts.push({ at, count });
    while ((starts[0]?.at ?? at) <= at - 1_000) starts.shift();
    if (count >= MAX_MICRO_BATCH) return 0;
    const perSecond = starts.reduce((sum, start) => sum + start.count, 0);
    const pauseMs = (perSecond - STARTS_WITHOUT_PAUSE) * PAUSE_STEP_MS;
    return Math.min(Math.max(pauseMs, 0), MAX_PAUSE_MS);
  };
}

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
