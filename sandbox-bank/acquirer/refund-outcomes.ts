import { doneAfterMs } from '../shared/behaviours.js';
import type { AcquirerContext } from './context.js';
import type { AcquirerRecord } from './records.js';
import type { Refund } from './refund-state.js';

export type RefundOutcomes = ReturnType<typeof createRefundOutcomes>;

/** What becomes of refunds. */
export function createRefundOutcomes({ state: { refunds }, journal, timers }: AcquirerContext) {
  /** The record of money that goes back now; commit it in the same turn. */
  function refunded(refund: number, at: number): AcquirerRecord {
    return { kind: 'refunded', refund, seq: journal.nextSeq(), at };
  }

  /** Decides a pending refund, and calls back. */
  function applyOutcome(
    { number, behaviour, createdAt }: Refund,
    outcome: 'refunded' | 'refused',
  ): void {
    const at = Date.now();
    const isOutOfOrder = behaviour === 'reported_out_of_order';
    const record: AcquirerRecord =
      outcome === 'refunded'
        ? refunded(number, at)
        : { kind: 'refund_refused', refund: number, code: 'declined', at };
    journal.commitAndNotify(record, {
      about: { refund: number },
      event: `refund.${outcome}`,
      at,
      before: isOutOfOrder ? { event: 'refund.pending', at: createdAt } : undefined,
    });
  }

  /** The times count from the journal, so that a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(refund: Refund): void {
    const afterMs = refund.status === 'pending' ? doneAfterMs(refund.behaviour) : null;
    if (afterMs === null) return;
    timers.after(refund.createdAt + afterMs - Date.now(), () => {
      if (refund.status === 'pending') applyOutcome(refund, 'refunded');
    });
  }

  return {
    refunded,
    applyOutcome,
    /** Plans what the table says will happen to this refund by itself. */
    scheduleNextOutcome,
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      for (const refund of refunds.all) scheduleNextOutcome(refund);
    },
  };
}
