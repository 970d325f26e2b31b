import { randomBytes } from 'node:crypto';
import { doneAfterMs } from '../shared/behaviours.js';
import { NEXT_AFTER_MS } from './behaviours.js';
import type { AcquirerContext } from './context.js';
import type { AcquirerRecord, RefundRequest } from './records.js';
import type { Refund } from './refund-state.js';

/** Decides refunds and reports their outcomes. */
export type RefundOutcomes = ReturnType<typeof createRefundOutcomes>;

/** Creates the part that decides refunds, now or after the time that their behaviour says. */
export function createRefundOutcomes({ state: { refunds }, journal, timers }: AcquirerContext) {
  /** Makes the record of a refund; commit it in the same turn, because it takes the next effect number. */
  function refunded(refund: number, at: number): AcquirerRecord {
    return { kind: 'refunded', refund, seq: journal.nextSeq(), at };
  }

  /** Decides a pending refund, or returns the money of a completed one, and calls back. */
  function applyOutcome(
    { number, behaviour, createdAt }: Refund,
    outcome: 'refunded' | 'refused' | 'returned',
  ): void {
    const at = Date.now();
    const isOutOfOrder = behaviour === 'reported_out_of_order';
    const record: AcquirerRecord =
      outcome === 'refunded'
        ? refunded(number, at)
        : outcome === 'returned'
          ? { kind: 'refund_returned', refund: number, seq: journal.nextSeq(), at }
          : { kind: 'refund_refused', refund: number, code: 'declined', at };
    if (behaviour === 'done_unreported') return journal.commit([record]);
    journal.commitAndNotify(record, {
      about: { refund: number },
      event: `refund.${outcome}`,
      at,
      before: isOutOfOrder ? { event: 'refund.pending', at: createdAt } : undefined,
    });
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(refund: Refund): void {
    const { status, behaviour } = refund;
    if (status === 'refunded' && behaviour === 'returned_later') {
      timers.after(refund.updatedAt + NEXT_AFTER_MS - Date.now(), () => {
        if (refund.status === 'refunded') applyOutcome(refund, 'returned');
      });
    }
    const afterMs = status === 'pending' ? doneAfterMs(behaviour) : null;
    if (afterMs === null) return;
    timers.after(refund.createdAt + afterMs - Date.now(), () => {
      if (refund.status === 'pending') applyOutcome(refund, 'refunded');
    });
  }

  /** Takes a refund that is not refused and not decided yet. */
  function order(request: RefundRequest): Refund {
    const number = refunds.all.length;
    const id = `rfnd_${randomBytes(10).toString('hex')}`;
    journal.commit([
      { kind: 'refund_ordered', refund: number, id, order: request, at: Date.now() },
    ]);
    return refunds.get(number);
  }

  return {
    order,
    refunded,
    applyOutcome,
    /** Schedules the outcome that the refund's behaviour prescribes, if it has one. */
    scheduleNextOutcome,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      for (const refund of refunds.all) scheduleNextOutcome(refund);
    },
  };
}
