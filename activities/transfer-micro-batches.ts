import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { mapWithConcurrency } from '../src/shared/concurrency.js';
import { needsWorkflow } from '../src/core/instructions/instruction.js';
import type {
  ProviderCallResult,
  NotAttempted,
  RecordRef,
  SubmitInput,
} from '../src/core/instructions/workflow-contract.js';
import {
  MAX_MICRO_BATCH,
  type TransferStarter,
} from '../src/capabilities/transfers/workflow-starter.js';
import type { TransferMicroBatchInput } from '../src/capabilities/transfers/workflow-contract.js';
import { applyOrAcknowledge } from './answer-writes.js';
import { logIds } from './log-ids.js';
import { isFactResult } from './provider-result.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';

/** Parts that the activities of micro-batches need. */
export type TransferMicroBatchActivityDeps = TransferActivityDeps & {
  transfers: { starter: Pick<TransferStarter, 'start'> };
};
type Deps = TransferMicroBatchActivityDeps;
type Activities = ReturnType<typeof createTransferActivities>;

/** All transfers of one micro-batch: their permits and their outcomes then share commits. */
const SUBMISSIONS_AT_ONCE = MAX_MICRO_BATCH;
/** Limit of the wait for the local submission limiter, and the pause between attempts. */
const CAPACITY_WITHIN_MS = 1_000;
const CHECK_EVERY_MS = 20;
/** A run that holds the submit permit has applied its answer within this time, or has died. */
const IN_FLIGHT_MS = 5_000;

/** The activities of micro-batches. Their names are in histories, so they never change. */
export function createTransferMicroBatchActivities(deps: Deps) {
  const { store: transfers } = deps.transfers;
  const activities = createTransferActivities(deps);
  return {
    /**
     * Submits the transfers that were not submitted yet, and applies final answers. Starts the own workflow of every
     * other open transfer. Repeatable: nothing is submitted twice.
     */
    async submitTransferMicroBatch({
      rateLimitKey: provider,
      transfers: refs,
    }: TransferMicroBatchInput): Promise<void> {
      const batched = refs.length > 1;
      await mapWithConcurrency(SUBMISSIONS_AT_ONCE, refs, async (ref) => {
        const once = { submissions: 0, batched, untilStored: true } as const;
        const open = await submitOne(deps, activities, { ...ref, rateLimitKey: provider, ...once });
        // An acknowledgement may not be stored yet when the time is over. The next check starts the workflow.
        if (open && !cancellationSignal().aborted) await startOwnWorkflow(deps, ref, open);
      });
    },

    /** Sets the next check of every open transfer to now, so that the dispatcher starts its own workflow. */
    async scheduleTransferWorkflows({ transfers: refs }: TransferMicroBatchInput): Promise<void> {
      await mapWithConcurrency(SUBMISSIONS_AT_ONCE, refs, ({ tenantId, id }) =>
        transfers.scheduleOwnWorkflows(tenantId, [id]),
      );
    },
  };
}

/** A transfer that has not ended. `permitTaken`: another run has its submit permit and may be executing it. */
type Open = { permitTaken: boolean };

/** Submits one transfer and applies a final answer. Null if no workflow is needed for it. */
async function submitOne(
  { transfers: { store: transfers }, localSubmissions, log }: Deps,
  activities: Activities,
  submission: SubmitInput & { rateLimitKey: string },
): Promise<Open | null> {
  const { tenantId, id, rateLimitKey } = submission;
  const ref: RecordRef = { tenantId, id };
  try {
    const result = await submitWhenPossible();
    if (result.kind === 'not_attempted' || !isFactResult(result)) {
      const isTerminal = result.kind === 'closed' && result.attention === null;
      return isTerminal ? null : { permitTaken: result.kind === 'permit_denied' };
    }
    const { status, attention, monitored } = await applyOrAcknowledge(
      result,
      () => activities.applyTransferOutcome({ ...ref, fact: result }),
      () => transfers.acknowledge(tenantId, id),
    );
    const isTerminal = (status === 'completed' || status === 'failed') && attention === null;
    return isTerminal && !monitored ? null : { permitTaken: false };
  } catch (error) {
    // A failure concerns this transfer alone; the micro-batch goes on.
    log.warn({ err: error, ...logIds(ref) }, 'instruction handed to its own workflow');
    return { permitTaken: false };
  }

  async function submitWhenPossible(): Promise<ProviderCallResult | NotAttempted> {
    const signal = cancellationSignal();
    const giveUpAt = performance.now() + CAPACITY_WITHIN_MS;
    for (;;) {
      const result = await activities.submitTransferLocally(submission);
      const inTime = performance.now() < giveUpAt && localSubmissions.hasCapacitySoon(rateLimitKey);
      if (result.kind !== 'not_attempted' || !inTime) return result;
      await sleep(CHECK_EVERY_MS, undefined, { signal });
    }
  }
}

/**
 * Starts the transfer's own workflow, now if possible. A transfer that another micro-batch has just submitted is left to
 * that one and to its next check: under load every transfer would otherwise be executed twice.
 */
async function startOwnWorkflow(
  { transfers: { store: transfers, starter }, log }: Deps,
  { tenantId, id }: RecordRef,
  { permitTaken }: Open,
): Promise<void> {
  try {
    const transfer = await transfers.get(tenantId, id);
    if (!transfer || !needsWorkflow(transfer)) return;
    if (permitTaken && Date.now() - transfer.updated_at.getTime() < IN_FLIGHT_MS) return;
    await starter.start(transfer);
  } catch (error) {
    const ids = logIds({ tenantId, id });
    log.warn({ err: error, ...ids }, 'workflow start failed, dispatcher will retry');
    await transfers.scheduleOwnWorkflows(tenantId, [id]).catch(() => undefined);
  }
}
