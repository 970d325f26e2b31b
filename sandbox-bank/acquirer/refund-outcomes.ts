import { doneAfterMs } from '../behaviours.js';
import type { NetworkParts } from './context.js';
import type { NetworkRecord } from './records.js';
import type { Refund } from './refund-state.js';

export type RefundBooks = ReturnType<typeof createRefundBooks>;

/** What becomes of refunds. */
export function createRefundBooks({ state: { refunds }, journal, timers }: NetworkParts) {
  /** The record of money that goes back now; commit it in the same turn. */
  function refunded(refund: number, at: number): NetworkRecord {
    return { kind: 'refunded', refund, seq: journal.nextSeq(), at };
  }

  /** Decides a pending refund, and calls back. */
  function settle({ number, behaviour, createdAt }: Refund, outcome: 'refunded' | 'refused'): void {
    const at = Date.now();
    const isOutOfOrder = behaviour === 'told_out_of_order';
    const record: NetworkRecord =
      outcome === 'refunded'
        ? refunded(number, at)
        : { kind: 'refund_refused', refund: number, code: 'declined', at };
    journal.commitAndTell(record, {
      about: { refund: number },
      event: `refund.${outcome}`,
      at,
      before: isOutOfOrder ? { event: 'refund.pending', at: createdAt } : undefined,
    });
  }

  /** The times count from the journal, so that a restart neither loses nor prolongs them. */
  function scheduleWhatIsDue(refund: Refund): void {
    const afterMs = refund.status === 'pending' ? doneAfterMs(refund.behaviour) : null;
    if (afterMs === null) return;
    timers.after(refund.createdAt + afterMs - Date.now(), () => {
      if (refund.status === 'pending') settle(refund, 'refunded');
    });
  }

  return {
    refunded,
    settle,
    /** Plans what the table says will happen to this refund by itself. */
    scheduleWhatIsDue,
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      for (const refund of refunds.all) scheduleWhatIsDue(refund);
    },
  };
}
