import { planCallbacks, type OutcomeNotice } from './callback-plan.js';
import type { CallbackRecord } from './callback-record.js';
import type { Callbacks } from './callbacks.js';
import type { Log } from './log.js';

/** Facts that belong to no single part of the bank. */
export type SharedRecord =
  /** `reference` is the key that is counted: a transfer's own reference, or a kind and name of something else. */
  | { kind: 'turned_away'; reference: string; at: number }
  | { kind: 'callback_done'; delivery: number; delivered: boolean; at: number };

/** The journal as one part of the bank uses it: `Own` is the union of that part's records. */
export type Journal<Own = never> = {
  /** Writes the records as one line and applies them: all of them happen, or none. */
  commit(change: (Own | SharedRecord)[]): void;
  /** Commits an outcome together with the callbacks that report it. */
  commitAndNotify(outcome: Own, notice: OutcomeNotice): void;
  /** Calls back about what has been committed before. */
  notify(notice: OutcomeNotice): void;
  /** The number of the next effect; use it in the same turn of the event loop. */
  nextSeq(): number;
  /** After a start: sends the callbacks that were not accepted before the last stop. */
  resume(): void;
  /** Records that a callback was accepted, or that the bank stops sending it. */
  callbackDone(delivery: number, delivered: boolean): void;
};

/**
 * Creates the journal of all parts. Each change is applied in the same turn of the event loop in which it is committed,
 * so the next request sees it. No answer or callback may report a change before the log has been flushed.
 */
export function createJournal<Own extends { kind: string }>(parts: {
  state: {
    apply(record: Own | SharedRecord | CallbackRecord): void;
    effects: readonly unknown[];
    callbacks: ReadonlyMap<number, CallbackRecord>;
    nextDelivery(): number;
  };
  log: Log;
  callbacks: Callbacks;
}): Journal<Own> {
  const { state, log, callbacks } = parts;

  function commit(change: (Own | SharedRecord | CallbackRecord)[]): void {
    log.append(JSON.stringify(change));
    for (const record of change) {
      state.apply(record);
      if (isCallback(record)) callbacks.send(record);
    }
  }

  return {
    commit,
    commitAndNotify(outcome, notice) {
      const plan = callbacks.reaches(notice.event)
        ? planCallbacks(notice, state.nextDelivery())
        : [];
      commit([outcome, ...plan]);
    },
    notify(notice) {
      if (callbacks.reaches(notice.event)) commit(planCallbacks(notice, state.nextDelivery()));
    },
    nextSeq: () => state.effects.length + 1,
    resume() {
      for (const callback of state.callbacks.values()) callbacks.send(callback);
    },
    callbackDone(delivery, delivered) {
      commit([{ kind: 'callback_done', delivery, delivered, at: Date.now() }]);
    },
  };
}

const isCallback = (record: { kind: string }): record is CallbackRecord =>
  record.kind === 'callback';
