import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { mapWithConcurrency } from '../src/shared/concurrency.js';
import type { Batches } from '../src/capabilities/bulk-transfers/store.js';
import { idsOf } from '../src/capabilities/bulk-transfers/bulk-transfer.js';
import type { RecordRef } from '../src/core/instructions/workflow-contract.js';
import type { BulkTransferChunk } from '../src/capabilities/transfers/workflow-contract.js';
import { isFactResult, toFact } from './provider-result.js';
import {
  createTransferActivities,
  type TransferActivities,
  type TransferActivityDeps,
} from './transfers.js';

export type BulkTransferActivityDeps = TransferActivityDeps & { bulkTransfers: Batches };
type Deps = BulkTransferActivityDeps;

/** Orders of one part on their way at once. */
const SUBMISSIONS_AT_ONCE = 10;
/** How often an order is put off by the provider before it gets a workflow of its own. */
const MAX_POSTPONED = 5;
const MAX_PAUSE_MS = 60_000;
const HEARTBEAT_MS = 2_000;

export function createBulkTransferActivities(deps: Deps) {
  const { transfers, bulkTransfers } = deps;
  const { submitTransfer } = createTransferActivities(deps);
  return {
    /**
     * Lets the orders of a part out that have not left yet, and books final answers. Everything else that is open is
     * due at once, for a workflow of its own. Repeatable: nothing leaves twice.
     */
    async submitBulkTransferChunk({ tenantId, id, from, to }: BulkTransferChunk): Promise<void> {
      const stopBeating = beat();
      try {
        const { ids, provider } = await bulkTransfers.part(tenantId, id, from, to);
        const unsent = await transfers.unsent(tenantId, ids);
        await mapWithConcurrency(SUBMISSIONS_AT_ONCE, unsent, (one) =>
          submitOne({ ...deps, submitTransfer }, { tenantId, id: one }, provider),
        );
        await transfers.handOver(tenantId, ids);
      } finally {
        stopBeating();
      }
    },

    /** Ends a batch: what is still open and was not handed over by its part is so now. */
    async completeBulkTransfer({ tenantId, id }: RecordRef): Promise<void> {
      const bulkTransfer = await bulkTransfers.get(tenantId, id);
      if (!bulkTransfer) return;
      await transfers.handOver(tenantId, idsOf(bulkTransfer));
      await bulkTransfers.close(tenantId, id);
    },
  };
}

/** One order: out, and booked if the answer is final. Again only where the provider says that it took nothing. */
async function submitOne(
  { transfers, log, submitTransfer }: Deps & Pick<TransferActivities, 'submitTransfer'>,
  ref: RecordRef,
  provider: string,
): Promise<void> {
  const signal = Context.current().cancellationSignal;
  try {
    for (let submissions = 0, postponed = 0; ; postponed += 1) {
      const result = await submitTransfer({ ...ref, submissions, suppressTimeline: postponed > 0 });
      if (isFactResult(result)) {
        const { via, providerRequestId } = result;
        const origin = { via, actor: provider, providerRequestId, note: null };
        await transfers.applyFact(ref.tenantId, ref.id, toFact(result, origin));
        return;
      }
      if (result.kind !== 'throttled' || postponed === MAX_POSTPONED) return;
      submissions = result.submissions;
      const pauseMs = Math.min(result.retryAfterMs, MAX_PAUSE_MS);
      // Longer than the sweep leaves it alone: a workflow of its own would ask meanwhile, and send beside this one.
      await transfers.postpone(ref.tenantId, ref.id, pauseMs);
      await sleep(pauseMs, undefined, { signal });
    }
  } catch (error) {
    // One that goes wrong is handed over, and spoils none of the others.
    log.warn({ err: error, transfer: ref.id }, 'instruction handed to its own workflow');
  }
}

/** Says that this process lives, while a slow provider is waited for. */
function beat(): () => void {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  return () => clearInterval(timer);
}
