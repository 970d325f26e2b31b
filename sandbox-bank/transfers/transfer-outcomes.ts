import { doneAfterMs, reversedAfterMs } from '../shared/behaviours.js';
import type { Journal } from '../shared/journal.js';
import { sessionId } from './session-id.js';
import type { TransferEventName } from '../shared/callback-record.js';
import type { TransferRecord } from './records.js';
import type { Transfer, TransferState } from './state.js';
import type { Timers } from '../shared/timers.js';

export type TransferOutcomes = ReturnType<typeof createTransferOutcomes>;

/** What becomes of transfers. */
export function createTransferOutcomes(parts: {
  state: TransferState;
  journal: Journal<TransferRecord>;
  timers: Timers;
}) {
  const { state, journal, timers } = parts;

  function commitAndNotify(
    transfer: Transfer,
    outcome: TransferRecord,
    event: TransferEventName,
  ): void {
    const isOutOfOrder = transfer.behaviour === 'reported_out_of_order';
    journal.commitAndNotify(outcome, {
      about: { transfer: transfer.number },
      event,
      at: Date.now(),
      before: isOutOfOrder ? { event: 'transfer.pending', at: transfer.createdAt } : undefined,
    });
  }

  function paid(transfer: number, at: number): TransferRecord {
    const seq = journal.nextSeq();
    return { kind: 'paid', transfer, seq, session_id: sessionId(at, seq), at };
  }

  function applyOutcome(transfer: Transfer, outcome: 'paid' | 'refused'): void {
    const at = Date.now();
    const { number } = transfer;
    const record: TransferRecord =
      outcome === 'paid'
        ? paid(number, at)
        : { kind: 'refused', transfer: number, code: 'declined', at };
    commitAndNotify(transfer, record, `transfer.${outcome}`);
    scheduleNextOutcome(transfer);
  }

  function reverse(transfer: Transfer): void {
    const seq = journal.nextSeq();
    const record = { kind: 'reversed', transfer: transfer.number, seq, at: Date.now() } as const;
    commitAndNotify(transfer, record, 'transfer.reversed');
  }

  /** The times count from the journal, so that a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(transfer: Transfer): void {
    const payAfterMs = transfer.status === 'pending' ? doneAfterMs(transfer.behaviour) : null;
    const reverseAfterMs = transfer.status === 'paid' ? reversedAfterMs(transfer.behaviour) : null;
    if (payAfterMs !== null) {
      timers.after(transfer.createdAt + payAfterMs - Date.now(), () => {
        if (transfer.status === 'pending') applyOutcome(transfer, 'paid');
      });
    }
    if (reverseAfterMs !== null) {
      timers.after(transfer.updatedAt + reverseAfterMs - Date.now(), () => {
        if (transfer.status === 'paid') reverse(transfer);
      });
    }
  }

  return {
    /** The record of a payment that happens now; commit it in the same turn. */
    paid,
    /** Decides a pending transfer, and calls back. */
    applyOutcome,
    /** Plans what the table says will happen to this transfer by itself. */
    scheduleNextOutcome,
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      for (const transfer of state.all) scheduleNextOutcome(transfer);
    },
  };
}
