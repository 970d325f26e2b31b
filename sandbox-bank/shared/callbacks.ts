import type { Log } from './log.js';
import type { CallbackSender } from './callback-sender.js';
import type { CallbackRecord, EventName } from './callback-record.js';
import type { Timers } from './timers.js';

const PAUSES_MS = [1_000, 2_000, 5_000, 10_000];
const LAST_PAUSE_MS = 30_000;
const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;
const ANSWER_WITHIN_MS = 10_000;

/** The client's callback addresses; null disables them. */
export type CallbackUrls = { transfers: string | null; cards: string | null };

/** Delivers callbacks. */
export type Callbacks = {
  /** True if the client has an address for this event. */
  reaches(event: EventName): boolean;
  /** Delivers at least once: retries until a 2xx, for a day. Never throws. */
  send(callback: CallbackRecord): void;
  close(): void;
};

/**
 * Creates the delivery of callbacks. The log is flushed before each attempt; `done` runs after acceptance or the last
 * attempt.
 */
export function createCallbacks(parts: {
  urls: CallbackUrls;
  callbackSender: CallbackSender;
  log: Log;
  timers: Timers;
  /** Builds the request's body. */
  bodyOf: (callback: CallbackRecord) => unknown;
  done: (delivery: number, delivered: boolean) => void;
}): Callbacks {
  const { urls, callbackSender, log, timers, bodyOf, done } = parts;
  const urlOf = (event: EventName) => (event.startsWith('card.') ? urls.cards : urls.transfers);
  let closed = false;

  async function attempt(target: string, callback: CallbackRecord, tries: number): Promise<void> {
    await log.flushed();
    const answer = await callbackSender.post(
      'callback',
      target,
      bodyOf(callback),
      ANSWER_WITHIN_MS,
    );
    if (closed) return;
    const delivered = answer !== null && answer.status >= 200 && answer.status < 300;
    const expired = Date.now() - callback.not_before > GIVE_UP_AFTER_MS;
    if (delivered || expired) done(callback.delivery, delivered);
    else schedule(target, callback, PAUSES_MS[tries] ?? LAST_PAUSE_MS, tries + 1);
  }

  function schedule(
    target: string,
    callback: CallbackRecord,
    delayMs: number,
    tries: number,
  ): void {
    timers.after(delayMs, () => {
      // Rejects only if the log is broken or closed; nothing may be reported then.
      attempt(target, callback, tries).catch(() => {});
    });
  }

  return {
    reaches: (event) => urlOf(event) !== null,
    send(callback) {
      const url = urlOf(callback.event);
      if (url !== null) schedule(url, callback, callback.not_before - Date.now(), 0);
    },
    close() {
      closed = true;
    },
  };
}
