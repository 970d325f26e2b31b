import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { mapWithConcurrency } from '../src/shared/concurrency.js';
import type { BulkTransferStore } from '../src/capabilities/bulk-transfers/store.js';
import { idsOf } from '../src/capabilities/bulk-transfers/record.js';
import type { RecordRef } from '../src/core/instructions/workflow-contract.js';
import type { BulkTransferChunk } from '../src/capabilities/bulk-transfers/workflow-contract.js';
import { transferRateLimitKey } from '../src/platform/temporal/queues.js';
import { applyOrAcknowledge } from './answer-writes.js';
import { logIds } from './log-ids.js';
import { countAnswer, isFactResult, notingAnswer, toFact } from './provider-result.js';
import {
  createTransferActivities,
  type PreparationTurn,
  type TransferActivities,
  type TransferActivityDeps,
} from './transfers.js';

/** Parts that the activities of bulk transfers need. */
export type BulkTransferActivityDeps = TransferActivityDeps & {
  bulkTransfers: { store: BulkTransferStore };
};
type Deps = BulkTransferActivityDeps;

/** Transfers of one chunk in flight. */
const SUBMISSIONS_AT_ONCE = 10;
/** Times that the provider may throttle a transfer before it gets a workflow of its own. */
const MAX_POSTPONED = 5;
const MAX_PAUSE_MS = 60_000;
const HEARTBEAT_MS = 2_000;
/** A transfer that waits longer for the provider's rate, or for a provider that is down, gets a workflow of its own. */
const TURN_WITHIN_MS = 60_000;

const OF_BULK: PreparationTurn = { kinds: ['bulk'], withinMs: TURN_WITHIN_MS };

/** The activities of bulk transfers. Their names are in histories, so they never change. */
export function createBulkTransferActivities(deps: Deps) {
  const { store: transfers } = deps.transfers;
  const { store: bulkTransfers } = deps.bulkTransfers;
  const { submitTransfer } = createTransferActivities(deps, OF_BULK);
  return {
    /**
     * Submits the transfers of a chunk that were not submitted yet, and applies final answers. The next check of every
     * other open transfer is set to now, so the dispatcher starts its own workflow. Repeatable: nothing is submitted
     * twice.
     */
    async submitBulkTransferChunk({ tenantId, id, from, to }: BulkTransferChunk): Promise<void> {
      const stopHeartbeat = startHeartbeat();
      try {
        const { ids, provider } = await bulkTransfers.chunk(tenantId, id, from, to);
        const unsent = await transfers.unsent(tenantId, ids);
        await mapWithConcurrency(SUBMISSIONS_AT_ONCE, unsent, (one) =>
          submitOne({ ...deps, submitTransfer }, { tenantId, id: one }, provider),
        );
        await transfers.scheduleOwnWorkflows(tenantId, ids);
        await bulkTransfers.progressed(tenantId, id);
      } finally {
        stopHeartbeat();
      }
    },

    /** Completes the bulk transfer, and schedules the workflows of transfers that their chunk has left open. */
    async completeBulkTransfer({ tenantId, id }: RecordRef): Promise<void> {
      const bulkTransfer = await bulkTransfers.get(tenantId, id);
      if (!bulkTransfer) return;
      await transfers.scheduleOwnWorkflows(tenantId, idsOf(bulkTransfer));
      await bulkTransfers.complete(tenantId, id);
    },
  };
}

/** Submits one transfer and applies a final answer. Submits again only if the provider has throttled it. */
async function submitOne(
  {
    transfers: { store: transfers },
    callRates,
    log,
    submitTransfer,
  }: Deps & Pick<TransferActivities, 'submitTransfer'>,
  ref: RecordRef,
  provider: string,
): Promise<void> {
  const signal = Context.current().cancellationSignal;
  const rateLimit = transferRateLimitKey(provider);
  try {
    for (let submissions = 0, postponed = 0; ; postponed += 1) {
      if (!(await callRates.takeWithin(rateLimit, 'bulk', TURN_WITHIN_MS, signal))) return;
      const suppressTimeline = postponed > 0;
      const input = { ...ref, submissions, suppressTimeline, untilStored: true } as const;
      const count = countAnswer(callRates, rateLimit);
      const result = await notingAnswer(() => submitTransfer(input), count);
      if (isFactResult(result)) {
        const { via, providerRequestId } = result;
        const origin = { via, actor: provider, providerRequestId, note: null };
        const fact = toFact(result, origin);
        await applyOrAcknowledge(
          result,
          () => transfers.applyFact(ref.tenantId, ref.id, fact),
          () => transfers.acknowledge(ref.tenantId, ref.id),
        );
        return;
      }
      if (result.kind !== 'throttled' || postponed === MAX_POSTPONED) return;
      submissions = result.submissions;
      const pauseMs = Math.min(result.retryAfterMs, MAX_PAUSE_MS);
      // The pause may exceed the stall timeout; without this the dispatcher would start a second workflow meanwhile.
      await transfers.postpone(ref.tenantId, ref.id, pauseMs);
      await sleep(pauseMs, undefined, { signal });
    }
  } catch (error) {
    // A failure concerns this transfer alone: its own workflow takes over, and the chunk goes on.
    log.warn({ err: error, ...logIds(ref) }, 'instruction handed to its own workflow');
  }
}

/** Sends heartbeats while a slow provider is awaited; returns a function that stops them. */
function startHeartbeat(): () => void {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  return () => clearInterval(timer);
}
