import { paidAfterMs, reversedAfterMs } from './behaviours.js';
import { planCallbacks } from './callback-plan.js';
import type { Callbacks } from './callbacks.js';
import type { Log } from './log.js';
import { sessionId } from './session-id.js';
import type { BankRecord } from './records.js';
import type { State, Transfer } from './state.js';
import type { Timers } from './timers.js';

export type Books = ReturnType<typeof createBooks>;

/**
 * Writes what happens: each change is one line of the journal, so all of it happens or nothing, and is seen by whoever
 * comes next in the same turn of the event loop. Nothing may be told to anyone before the log was flushed.
 */
export function createBooks(parts: {
  state: State;
  log: Log;
  callbacks: Callbacks;
  timers: Timers;
}) {
  const { state, log, callbacks, timers } = parts;

  function commit(change: BankRecord[]): void {
    log.append(JSON.stringify(change));
    for (const record of change) {
      state.apply(record);
      if (record.kind === 'callback') callbacks.send(record);
    }
  }

  function commitAndTell(transfer: Transfer, outcome: BankRecord, at: number): void {
    const plan = callbacks.enabled
      ? planCallbacks(transfer, outcome.kind, at, state.nextDelivery())
      : [];
    commit([outcome, ...plan]);
  }

  function paid(transfer: number, at: number): BankRecord {
    const seq = state.effects.length + 1;
    return { kind: 'paid', transfer, seq, session_id: sessionId(at, seq), at };
  }

  function settle(transfer: Transfer, outcome: 'paid' | 'refused'): void {
    const at = Date.now();
    const { number } = transfer;
    const record: BankRecord =
      outcome === 'paid'
        ? paid(number, at)
        : { kind: 'refused', transfer: number, code: 'declined', at };
    commitAndTell(transfer, record, at);
    scheduleWhatIsDue(transfer);
  }

  function reverse(transfer: Transfer): void {
    const at = Date.now();
    const seq = state.effects.length + 1;
    commitAndTell(transfer, { kind: 'reversed', transfer: transfer.number, seq, at }, at);
  }

  /** The times count from the journal, so that a restart neither loses nor prolongs them. */
  function scheduleWhatIsDue(transfer: Transfer): void {
    const payAfterMs = transfer.status === 'pending' ? paidAfterMs(transfer.behaviour) : null;
    const reverseAfterMs = transfer.status === 'paid' ? reversedAfterMs(transfer.behaviour) : null;
    if (payAfterMs !== null) {
      timers.after(transfer.createdAt + payAfterMs - Date.now(), () => {
        if (transfer.status === 'pending') settle(transfer, 'paid');
      });
    }
    if (reverseAfterMs !== null) {
      timers.after(transfer.updatedAt + reverseAfterMs - Date.now(), () => {
        if (transfer.status === 'paid') reverse(transfer);
      });
    }
  }

  return {
    commit,
    /** The record of a payment that happens now; commit it in the same turn. */
    paid,
    /** Decides a pending transfer, and calls back. */
    settle,
    /** Plans what the table says will happen to this transfer by itself. */
    scheduleWhatIsDue,
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      for (const transfer of state.transfers) scheduleWhatIsDue(transfer);
      for (const callback of state.callbacks.values()) callbacks.send(callback);
    },
    /** A callback was taken, or is given up. */
    callbackDone(delivery: number, delivered: boolean): void {
      commit([{ kind: 'callback_done', delivery, delivered, at: Date.now() }]);
    },
  };
}
