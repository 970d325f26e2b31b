import { Agent, request } from 'undici';
import type { Faults } from './faults.js';
import type { Log } from './log.js';
import type { CallbackRecord } from './records.js';
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from './signature.js';
import type { State } from './state.js';
import type { Timers } from './timers.js';

const PAUSES_MS = [1_000, 2_000, 5_000, 10_000];
const LAST_PAUSE_MS = 30_000;
const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;
const ANSWER_WITHIN_MS = 10_000;
/** A client that was away for long must not be run over by all that it missed. */
const CONNECTIONS = 32;

export type Callbacks = {
  /** Whether there is anyone to call. */
  enabled: boolean;
  /** Delivers at least once: tries until a 2xx, for a day. Never throws. */
  send(callback: CallbackRecord): void;
  close(): Promise<void>;
};

/** Nothing leaves before the log has it on disk; `done` is told of what was taken or given up. */
export function createCallbacks(parts: {
  url: string | null;
  secret: string;
  state: State;
  log: Log;
  timers: Timers;
  faults: Faults;
  done: (delivery: number, delivered: boolean) => void;
}): Callbacks {
  const { url, secret, state, log, timers, faults, done } = parts;
  const agent = new Agent({
    connections: CONNECTIONS,
    connectTimeout: ANSWER_WITHIN_MS,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });
  let closed = false;

  async function post(target: string, callback: CallbackRecord): Promise<boolean> {
    const fault = faults.next('callback');
    if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    else if (fault && fault.kind !== 'drop_after') return false;
    const body = JSON.stringify(eventBody(state, callback));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const response = await request(target, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: sign(secret, timestamp, body),
      },
      body,
    });
    await response.body.dump();
    return fault?.kind !== 'drop_after' && response.statusCode >= 200 && response.statusCode < 300;
  }

  async function attempt(target: string, callback: CallbackRecord, tries: number): Promise<void> {
    await log.flushed();
    const delivered = await post(target, callback).catch(() => false);
    if (closed) return;
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
      // Rejects only when the log is broken or closed, and then there is nothing to tell any more.
      attempt(target, callback, tries).catch(() => {});
    });
  }

  return {
    enabled: url !== null,
    send(callback) {
      if (url !== null) schedule(url, callback, callback.not_before - Date.now(), 0);
    },
    async close() {
      closed = true;
      await agent.destroy();
    },
  };
}

/** What the client gets: never an account number. */
function eventBody(state: State, callback: CallbackRecord) {
  const { order, sessionId, code } = state.get(callback.transfer);
  const outcome = callback.event !== 'transfer.pending';
  return {
    id: callback.id,
    event: callback.event,
    occurred_at: new Date(callback.occurred_at).toISOString(),
    data: {
      reference: order.reference,
      client_reference: order.client_reference,
      amount_minor: order.amount_minor,
      currency: order.currency,
      session_id: outcome ? sessionId : null,
      ...(outcome && code !== null && { code }),
    },
  };
}
