import { Agent, request } from 'undici';
import type { Faults, FaultyCall } from './faults.js';
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from './signature.js';

/** Bounds the load on a client that returns after a long outage, when all missed callbacks are due. */
const CONNECTIONS = 32;
const MAX_ANSWER_BYTES = 64 * 1024;

/** The client's answer. Null: none was received; the client may have received the request or not. */
export type CallbackResponse = { status: number; text: string } | null;

/** Sends signed requests to the client. */
export type CallbackSender = {
  /** Sends one signed request, without retries. Never throws. */
  post(call: FaultyCall, url: string, body: unknown, withinMs: number): Promise<CallbackResponse>;
  close(): Promise<void>;
};

/** Faults of a callback that is sent all the same. */
const SENT: ReadonlySet<string> = new Set(['drop_after', 'reset', 'duplicate_event']);

/** Creates a sender with connections of its own; `close` ends them. */
export function createCallbackSender({
  secret,
  faults,
}: {
  secret: string;
  faults: Faults;
}): CallbackSender {
  const agent = new Agent({ connections: CONNECTIONS, maxResponseSize: MAX_ANSWER_BYTES });

  async function send(url: string, body: string, signal: AbortSignal): Promise<CallbackResponse> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const response = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: sign(secret, timestamp, body),
      },
      body,
      signal,
    });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async function within(ms: number, url: string, body: string): Promise<CallbackResponse> {
    // AbortSignal.timeout would keep its timer after the answer.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), ms);
    try {
      return await send(url, body, controller.signal);
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async post(call, url, body, withinMs) {
      const fault = faults.next(call);
      if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.ms));
      else if (fault?.kind === 'lost_event') return { status: 200, text: '' };
      else if (fault && !SENT.has(fault.kind)) return null;
      if (fault?.kind === 'duplicate_event') await within(withinMs, url, JSON.stringify(body));
      const answer = await within(withinMs, url, JSON.stringify(body));
      return fault?.kind === 'drop_after' || fault?.kind === 'reset' ? null : answer;
    },
    close: () => agent.destroy(),
  };
}
