import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { mapWithConcurrency } from '../src/shared/concurrency.js';
import { needsWorkflow } from '../src/core/instructions/instruction.js';
import type {
  ProviderCallResult,
  NotAttempted,
  RecordRef,
} from '../src/core/instructions/workflow-contract.js';
import type { TransferMicroBatchInput } from '../src/capabilities/transfers/workflow-contract.js';
import type { TransferStarter } from '../src/capabilities/transfers/starter.js';
import { isFactResult } from './provider-result.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';

export type TransferMicroBatchActivityDeps = TransferActivityDeps & {
  starter: Pick<TransferStarter, 'start'>;
};
type Deps = TransferMicroBatchActivityDeps;
type Activities = ReturnType<typeof createTransferActivities>;

/** Orders of one wave on their way at once. */
const SUBMISSIONS_AT_ONCE = 10;
/** How long an order waits for room to be sent from here, and how often that is looked for. */
const CAPACITY_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;
/** Who has let an order out has its answer booked within this, or is dead. */
const UNDER_WAY_MS = 5_000;

export function createTransferMicroBatchActivities(deps: Deps) {
  const { transfers } = deps;
  const activities = createTransferActivities(deps);
  return {
    /**
     * Lets the orders of a wave out that have not left yet, and books final answers. Everything else gets a workflow
     * of its own. Repeatable: nothing leaves twice.
     */
    async submitTransferMicroBatch({
      rateLimitKey: provider,
      transfers: refs,
    }: TransferMicroBatchInput): Promise<void> {
      await mapWithConcurrency(SUBMISSIONS_AT_ONCE, refs, async (ref) => {
        const left = await submitOne(deps, activities, ref, provider);
        if (left) await startOwnWorkflow(deps, ref, left);
      });
    },

    /** What is open of a wave that went wrong is due now, for workflows of their own. */
    async scheduleTransferWorkflows({ transfers: refs }: TransferMicroBatchInput): Promise<void> {
      await mapWithConcurrency(SUBMISSIONS_AT_ONCE, refs, ({ tenantId, id }) =>
        transfers.handOver(tenantId, [id]),
      );
    },
  };
}

/** Who drives a transfer that has not ended: nobody, or perhaps whoever got the permission to send it. */
type Left = { drivenByOther: boolean };

/** One order: out, and booked if the answer is final. Null where nothing is left to do for it. */
async function submitOne(
  { localSubmissions, log }: Deps,
  activities: Activities,
  ref: RecordRef,
  rateLimitKey: string,
): Promise<Left | null> {
  try {
    const result = await submitWhenPossible();
    if (result.kind === 'not_attempted' || !isFactResult(result)) {
      const isOver = result.kind === 'closed' && result.attention === null;
      return isOver ? null : { drivenByOther: result.kind === 'permit_denied' };
    }
    const { status, attention, monitored } = await activities.applyTransferOutcome({
      ...ref,
      fact: result,
    });
    const isOver = (status === 'completed' || status === 'failed') && attention === null;
    return isOver && !monitored ? null : { drivenByOther: false };
  } catch (error) {
    // One that goes wrong spoils none of the others.
    log.warn({ err: error, transfer: ref.id }, 'instruction handed to its own workflow');
    return { drivenByOther: false };
  }

  async function submitWhenPossible(): Promise<ProviderCallResult | NotAttempted> {
    const signal = cancellationSignal();
    const giveUpAt = performance.now() + CAPACITY_WITHIN_MS;
    for (;;) {
      const result = await activities.submitTransferLocally({
        ...ref,
        rateLimitKey,
        submissions: 0,
      });
      const inTime = performance.now() < giveUpAt && localSubmissions.hasCapacitySoon(rateLimitKey);
      if (result.kind !== 'not_attempted' || !inTime) return result;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

/**
 * Starts its own workflow, now if that is possible. What another wave has just let out is left to that one, and to its
 * due date: where much is late, everything would otherwise be driven twice.
 */
async function startOwnWorkflow(
  { transfers, starter, log }: Deps,
  { tenantId, id }: RecordRef,
  { drivenByOther }: Left,
): Promise<void> {
  try {
    const transfer = await transfers.get(tenantId, id);
    if (!transfer || !needsWorkflow(transfer)) return;
    if (drivenByOther && Date.now() - transfer.updated_at.getTime() < UNDER_WAY_MS) return;
    await starter.start(transfer);
  } catch (error) {
    log.warn({ err: error, transfer: id }, 'workflow start failed, dispatcher will retry');
    await transfers.handOver(tenantId, [id]).catch(() => undefined);
  }
}
