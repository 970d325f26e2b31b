import { doneAfterMs, reversedAfterMs, type Behaviour } from '../shared/behaviours.js';
import type { Journal } from '../shared/journal.js';
import { sessionId } from './session-id.js';
import type { TransferEventName } from '../shared/callback-record.js';
import type { TransferRecord } from './records.js';
import type { Transfer, TransferState } from './state.js';
import type { Timers } from '../shared/timers.js';

/** Behaviours whose outcome changes by itself, besides a payment of what is pending. */
const DECIDED_LATER: Partial<
  Record<Behaviour, { from: 'pending' | 'refused'; to: 'paid' | 'refused'; afterMs: number }>
> = {
  awaits_operator: { from: 'pending', to: 'refused', afterMs: 30_000 },
  refused_then_done: { from: 'refused', to: 'paid', afterMs: 3_000 },
};

/** The outcome that follows by itself, and the time after acceptance; null if there is none. */
function decisionOf(behaviour: Behaviour) {
  const afterMs = doneAfterMs(behaviour);
  const paid = afterMs === null ? null : ({ from: 'pending', to: 'paid', afterMs } as const);
  return DECIDED_LATER[behaviour] ?? paid;
}

const refusalCode = ({ behaviour }: Transfer) =>
  behaviour === 'awaits_operator' ? 'not_confirmed' : 'declined';

/** Decides transfers and reports their outcomes. */
export type TransferOutcomes = ReturnType<typeof createTransferOutcomes>;

/** Creates the part that decides transfers, now or after the time that their behaviour says. */
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

  function paid(transfer: number, at: number, amountMinor?: number): TransferRecord {
    const seq = journal.nextSeq();
    const amount = amountMinor === undefined ? {} : { amount_minor: amountMinor };
    return { kind: 'paid', transfer, seq, session_id: sessionId(at, seq), ...amount, at };
  }

  function applyOutcome(
    transfer: Transfer,
    outcome: 'paid' | 'refused',
    amountMinor?: number,
  ): void {
    const at = Date.now();
    const { number } = transfer;
    const record: TransferRecord =
      outcome === 'paid'
        ? paid(number, at, amountMinor)
        : { kind: 'refused', transfer: number, code: refusalCode(transfer), at };
    commitAndNotify(transfer, record, `transfer.${outcome}`);
    scheduleNextOutcome(transfer);
  }

  function reverse(transfer: Transfer): void {
    const seq = journal.nextSeq();
    const record = { kind: 'reversed', transfer: transfer.number, seq, at: Date.now() } as const;
    if (transfer.behaviour === 'reversed_without_event') return journal.commit([record]);
    commitAndNotify(transfer, record, 'transfer.reversed');
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(transfer: Transfer): void {
    const reverseAfterMs = transfer.status === 'paid' ? reversedAfterMs(transfer.behaviour) : null;
    const decided = decisionOf(transfer.behaviour);
    if (decided && transfer.status === decided.from) {
      timers.after(transfer.createdAt + decided.afterMs - Date.now(), () => {
        if (transfer.status === decided.from) applyOutcome(transfer, decided.to);
      });
    }
    if (reverseAfterMs !== null) {
      timers.after(transfer.updatedAt + reverseAfterMs - Date.now(), () => {
        if (transfer.status === 'paid') reverse(transfer);
      });
    }
  }

  return {
    /** Makes the record of a payment; commit it in the same turn, because it takes the next effect number. */
    paid,
    /** Decides a pending transfer, and calls back. */
    applyOutcome,
    /** Schedules the outcome that the transfer's behaviour prescribes, if it has one. */
    scheduleNextOutcome,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      for (const transfer of state.all) scheduleNextOutcome(transfer);
    },
  };
}
