import { setTimeout as sleep } from 'node:timers/promises';
import { createLane } from '../../shared/batching.js';
import { formatMajor } from '../../shared/money.js';
import { providerQueue, transferRateLimitKey } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  MAX_STARTING,
  type InstructionStarterSettings,
} from '../../core/supervision/workflow-starter.js';
import type { TransferInput } from './workflow-contract.js';
import { transferWorkflowId, type Transfer } from './transfer.js';
import { createMicroBatchStarter, MAX_MICRO_BATCH, microBatchesOf } from './micro-batches.js';

/**
 * Starts of one process are so far apart, unless so many wait that a wave is full: who comes alone sets out at once, and
 * where many come most of them share a workflow, long before the machine is full. One each costs several times as much.
 */
const START_INTERVAL_MS = 100;

export type TransferStarter = ReturnType<typeof createTransferStarter>;

/** Starts and wakes the workflow of a transfer; what was accepted while others were being started sets out together. */
export function createTransferStarter(settings: InstructionStarterSettings) {
  const { log } = settings;
  const single = createSingleStarter(settings);
  const microBatches = createMicroBatchStarter(settings);
  const lane = createLane<Transfer, null>({
    async run(transfers) {
      const interval = transfers.length < MAX_MICRO_BATCH ? sleep(START_INTERVAL_MS) : null;
      await Promise.all([...microBatchesOf(transfers).map(startMicroBatch), interval]);
      return transfers.map(() => null);
    },
    maxBatch: MAX_MICRO_BATCH,
    maxWaiting: MAX_STARTING,
  });

  async function startMicroBatch([first, ...others]: Transfer[]): Promise<void> {
    if (first)
      await (others.length === 0 ? single.start(first) : microBatches.start(first, others));
  }

  /** Starts what nobody has started yet, with whatever else is to be started meanwhile. */
  async function startTogether(transfer: Transfer): Promise<void> {
    await lane.enqueue(transfer);
  }

  return {
    ...single,
    startTogether,

    /** Starts without being waited for. A start that fails or is not even tried is made up for by the dispatcher. */
    startSoon(transfer: Transfer): void {
      startTogether(transfer).catch((error: unknown) => {
        const which = { err: error, transfer: transfer._id };
        log.warn(which, 'workflow start failed, dispatcher will retry');
      });
    },

    idle: async () => void (await Promise.all([lane.idle(), single.idle()])),
  };
}

function createSingleStarter({ policy, ...settings }: InstructionStarterSettings) {
  return createWorkflowStarter<Transfer>({
    ...settings,
    workflow: 'transfer',
    workflowId: ({ _id }) => transferWorkflowId(_id),
    toStart(transfer) {
      const {
        _id: id,
        tenant_id: tenantId,
        provider,
        reference,
        amount_minor: amountMinor,
      } = transfer;
      const rateLimitKey = transferRateLimitKey(provider);
      const input: TransferInput = {
        id,
        tenantId,
        rateLimitKey,
        taskQueue: providerQueue(settings.taskQueue, rateLimitKey),
        acceptedAtMs: transfer.created_at.getTime(),
        recipientKnown: transfer.recipient.name !== null,
        policy,
      };
      const summary = `${transfer.currency} ${formatMajor(amountMinor)} via ${provider}`;
      return { input, tenantId, provider, reference, amountMinor, summary };
    },
  });
}
