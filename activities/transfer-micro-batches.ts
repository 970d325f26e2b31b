import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { mapWithConcurrency } from '../src/shared/concurrency.js';
import { needsWorkflow } from '../src/core/instructions/instruction.js';
import { provesArrival } from '../src/core/instructions/transition.js';
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
/** The workflow learns after this time at the latest what its bank has acknowledged: its wait for the activity ends soon after. */
const HANDED_ON_WITHIN_MS = 25_000;

/** The activities of micro-batches. Their names are in histories, so they never change. */
export function createTransferMicroBatchActivities(deps: Deps) {
  const { store: transfers } = deps.transfers;
  const activities = createTransferActivities(deps);
  return {
    /**
     * Submits the transfers that were not submitted yet, and applies final answers. Starts the own workflow of every
     * other open transfer. Repeatable: nothing is submitted twice. Returns the transfers that the bank has acknowledged and whose
     * records do not say so: `acknowledgeTransfers` is for them.
     */
    async submitTransferMicroBatch({
      rateLimitKey: provider,
      transfers: refs,
    }: TransferMicroBatchInput): Promise<RecordRef[] | undefined> {
      const batched = refs.length > 1;
      const unrecorded = new Set<RecordRef>();
      const ended = mapWithConcurrency(SUBMISSIONS_AT_ONCE, refs, async (ref) => {
        const submission = { ...ref, rateLimitKey: provider, submissions: 0, batched };
        const setRecorded = (yes: boolean) =>
          void (yes ? unrecorded.delete(ref) : unrecorded.add(ref));
        const open = await submitOne(deps, activities, submission, setRecorded);
        if (open && !unrecorded.has(ref)) await startOwnWorkflow(deps, ref, open);
      });
      await Promise.race([ended, sleep(HANDED_ON_WITHIN_MS, undefined, { ref: false })]);
      return unrecorded.size > 0 ? [...unrecorded] : undefined;
    },

    /**
     * Stores that the bank has these transfers, so that "not found" permits no further submission of them. The dispatcher starts
     * their own workflows.
     */
    async acknowledgeTransfers({ transfers: refs }: { transfers: RecordRef[] }): Promise<void> {
      await mapWithConcurrency(SUBMISSIONS_AT_ONCE, refs, async ({ tenantId, id }) => {
        await transfers.acknowledge(tenantId, id);
        await transfers.scheduleOwnWorkflows(tenantId, [id]);
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

/**
 * Submits one transfer and applies a final answer. Null if no workflow is needed for it. `setRecorded` learns of an acknowledgement
 * that is not in the record, and that it is after all.
 */
async function submitOne(
  { localSubmissions, log }: Deps,
  activities: Activities,
  submission: SubmitInput & { rateLimitKey: string },
  setRecorded: (yes: boolean) => void,
): Promise<Open | null> {
  const { tenantId, id, rateLimitKey } = submission;
  const ref: RecordRef = { tenantId, id };
  try {
    const result = await submitWhenPossible();
    if (result.kind === 'not_attempted' || !isFactResult(result)) {
      if (result.kind === 'pending' && result.unrecorded) setRecorded(false);
      const isTerminal = result.kind === 'closed' && result.attention === null;
      return isTerminal ? null : { permitTaken: result.kind === 'permit_denied' };
    }
    if (provesArrival(result.kind)) setRecorded(false);
    const { status, attention, monitored } = await activities.applyTransferOutcome({
      ...ref,
      fact: result,
    });
    setRecorded(true);
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
