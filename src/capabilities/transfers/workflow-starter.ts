import { setTimeout as sleep } from 'node:timers/promises';
import { createLane } from '../../shared/batching.js';
import { formatMajor } from '../../shared/money.js';
import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import { createInstructionStarter } from '../../core/instructions/instruction-starter.js';
import {
  MAX_IN_FLIGHT,
  type InstructionStarterSettings,
} from '../../core/supervision/workflow-starter.js';
import { transferContract, type TransferInput } from './workflow-contract.js';
import { transferWorkflowId, type Transfer } from './transfer.js';
import {
  createMicroBatchStarter,
  createStartPause,
  MAX_MICRO_BATCH,
  microBatchesOf,
} from './micro-batches.js';

/** Starts, wakes and commands the workflows of transfers. */
export type TransferStarter = ReturnType<typeof createTransferStarter>;

/** Creates the starter of transfers. Transfers that are accepted while others are being started share micro-batches. */
export function createTransferStarter(settings: InstructionStarterSettings) {
  const { log } = settings;
  const single = createSingleStarter(settings);
  const microBatches = createMicroBatchStarter(settings);
  const pauseAfter = createStartPause();
  const lane = createLane<Transfer, null>({
    async run(transfers) {
      const pause = sleep(pauseAfter(transfers.length));
      await Promise.all([...microBatchesOf(transfers).map(startMicroBatch), pause]);
      return transfers.map(() => null);
    },
    maxBatch: MAX_MICRO_BATCH,
    maxWaiting: MAX_IN_FLIGHT,
  });

  async function startMicroBatch([first, ...others]: Transfer[]): Promise<void> {
    if (first)
      await (others.length === 0 ? single.start(first) : microBatches.start(first, others));
  }

  /** Starts a new transfer in one micro-batch with the others that wait. */
  async function startTogether(transfer: Transfer): Promise<void> {
    await lane.enqueue(transfer);
  }

  return {
    ...single,

    /** Groups due transfers: those that nobody has submitted share micro-batches, and each other one is alone. */
    groupsOf: (due: readonly Transfer[]): Transfer[][] => [
      ...microBatchesOf(due.filter(({ status }) => status === 'pending')),
      ...due.filter(({ status }) => status !== 'pending').map((transfer) => [transfer]),
    ],

    /** Starts one group at once: after an outage no transfer waits for others to share its workflow. */
    startGroup: startMicroBatch,

    /** Starts in the background. If the start fails or there are too many, the dispatcher starts the workflow later. */
    startSoon(transfer: Transfer): void {
      startTogether(transfer).catch((error: unknown) => {
        const { _id: resource, tenant_id: tenant } = transfer;
        const which = { err: error, resource, tenant, workflow_id: transferWorkflowId(resource) };
        log.warn(which, 'workflow start failed, dispatcher will retry');
      });
    },

    idle: async () => void (await Promise.all([lane.idle(), single.idle()])),
  };
}

const createSingleStarter = (settings: InstructionStarterSettings) =>
  createInstructionStarter<Transfer>(settings, {
    workflow: transferContract.type,
    workflowId: ({ _id }) => transferWorkflowId(_id),
    rateLimitKey: transferRateLimitKey,
    input: ({ recipient }, base): TransferInput => ({
      ...base,
      recipientKnown: recipient.name !== null,
    }),
    summary: ({ currency, amount_minor: amountMinor, provider }) =>
      `${currency} ${formatMajor(amountMinor)} via ${provider}`,
  });
