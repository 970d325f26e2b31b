import { planCallbacks, type OutcomeNotice } from './callback-plan.js';
import type { Callbacks } from './callbacks.js';
import type { Log } from './log.js';
import type { BankRecord } from '../records.js';
import type { State } from '../state.js';

export type Journal = ReturnType<typeof createJournal>;

/**
 * Writes what happens: each change is one line of the journal, so all of it happens or nothing, and is seen by whoever
 * comes next in the same turn of the event loop. Nothing may be told to anyone before the log was flushed.
 */
export function createJournal(parts: { state: State; log: Log; callbacks: Callbacks }) {
  const { state, log, callbacks } = parts;

  function commit(change: BankRecord[]): void {
    log.append(JSON.stringify(change));
    for (const record of change) {
      state.apply(record);
      if (record.kind === 'callback') callbacks.send(record);
    }
  }

  return {
    commit,
    /** Commits an outcome, with the callbacks that tell it. */
    commitAndNotify(outcome: BankRecord, news: OutcomeNotice): void {
      const plan = callbacks.reaches(news.event) ? planCallbacks(news, state.nextDelivery()) : [];
      commit([outcome, ...plan]);
    },
    /** The number of the next effect; use it in the same turn. */
    nextSeq: () => state.effects.length + 1,
    /** After a start: sends what was not taken before the last stop. */
    resume(): void {
      for (const callback of state.callbacks.values()) callbacks.send(callback);
    },
    /** A callback was taken, or is given up. */
    callbackDone(delivery: number, delivered: boolean): void {
      commit([{ kind: 'callback_done', delivery, delivered, at: Date.now() }]);
    },
  };
}
