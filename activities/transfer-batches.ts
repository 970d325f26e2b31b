import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { atMost } from '../src/concurrency.js';
import type { Batches } from '../src/transfers/batches.js';
import { idsOf } from '../src/transfers/batch.js';
import type { RecordRef } from '../src/pursuits/reports.js';
import type { BatchPart } from '../src/transfers/reports.js';
import { isFact, toFact } from './reports.js';
import {
  createTransferActivities,
  type TransferActivities,
  type TransferActivityDeps,
} from './transfers.js';

export type TransferBatchActivityDeps = TransferActivityDeps & { batches: Batches };
type Deps = TransferBatchActivityDeps;

/** Orders of one part on their way at once. */
const SENDS_AT_ONCE = 10;
/** How often an order is put off by the provider before it gets a workflow of its own. */
const MAX_PUT_OFF = 5;
const MAX_PAUSE_MS = 60_000;
const HEARTBEAT_MS = 2_000;

export function createTransferBatchActivities(deps: Deps) {
  const { transfers, batches } = deps;
  const { submitTransfer } = createTransferActivities(deps);
  return {
    /**
     * Lets the orders of a part out that have not left yet, and books final answers. Everything else that is open is
     * due at once, for a workflow of its own. Repeatable: nothing leaves twice.
     */
    async submitBatchPart({ tenant, id, from, to }: BatchPart): Promise<void> {
      const stopBeating = beat();
      try {
        const { ids, provider } = await batches.part(tenant, id, from, to);
        const unsent = await transfers.unsent(tenant, ids);
        await atMost(SENDS_AT_ONCE, unsent, (one) =>
          letOut({ ...deps, submitTransfer }, { tenant, id: one }, provider),
        );
        await transfers.handOver(tenant, ids);
      } finally {
        stopBeating();
      }
    },

    /** Ends a batch: what is still open and was not handed over by its part is so now. */
    async closeBatch({ tenant, id }: RecordRef): Promise<void> {
      const batch = await batches.get(tenant, id);
      if (!batch) return;
      await transfers.handOver(tenant, idsOf(batch));
      await batches.close(tenant, id);
    },
  };
}

/** One order: out, and booked if the answer is final. Again only where the provider says that it took nothing. */
async function letOut(
  { transfers, log, submitTransfer }: Deps & Pick<TransferActivities, 'submitTransfer'>,
  ref: RecordRef,
  provider: string,
): Promise<void> {
  const signal = Context.current().cancellationSignal;
  try {
    for (let sends = 0, putOff = 0; ; putOff += 1) {
      const report = await submitTransfer({ ...ref, sends, quietly: putOff > 0 });
      if (isFact(report)) {
        const { via, providerRequestId } = report;
        const origin = { via, actor: provider, providerRequestId, note: null };
        await transfers.applyFact(ref.tenant, ref.id, toFact(report, origin));
        return;
      }
      if (report.kind !== 'throttled' || putOff === MAX_PUT_OFF) return;
      sends = report.sends;
      const pauseMs = Math.min(report.retryAfterMs, MAX_PAUSE_MS);
      // Longer than the sweep leaves it alone: a workflow of its own would ask meanwhile, and send beside this one.
      await transfers.postpone(ref.tenant, ref.id, pauseMs);
      await sleep(pauseMs, undefined, { signal });
    }
  } catch (error) {
    // One that goes wrong is handed over, and spoils none of the others.
    log.warn({ err: error, transfer: ref.id }, 'left to a workflow of its own');
  }
}

/** Says that this process lives, while a slow provider is waited for. */
function beat(): () => void {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  return () => clearInterval(timer);
}
