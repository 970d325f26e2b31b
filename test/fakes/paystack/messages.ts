import { createHmac } from 'node:crypto';
import type { Context } from './context.js';
import type { Planned } from './records.js';

/** Pauses before each repeat of a message that was not accepted. Paystack's own are minutes and hours. */
const REPEAT_MS = [200, 500, 1_000, 2_000];
const TIMEOUT_MS = 5_000;
const TICK_MS = 25;
/** Pause between two messages that are sent in disorder. */
const DISORDER_MS = 50;

/** Sends the fake's messages, signed, until each is accepted, and makes changes that happen by themselves. */
export type Messages = ReturnType<typeof createMessages>;

/**
 * Creates the sender. Messages and planned changes are on disk, so that a restart continues with them. `apply` makes a
 * planned change.
 */
export function createMessages(
  ctx: Context,
  { keys, webhookUrl }: { keys: readonly string[]; webhookUrl: string | null },
  apply: (planned: Pick<Planned, 'does' | 'key' | 'status'>) => void,
) {
  let receiver = webhookUrl;
  const underWay = new Set<number>();
  let isPaused = false;

  function send(event: string, data: unknown, extra: object = {}): void {
    if (receiver !== null) post(JSON.stringify({ event, ...extra, data }), 0);
  }

  function post(body: string, afterMs: number): void {
    const id = ctx.id('message');
    ctx.outgoing.put(String(id), { id, body, dueAt: Date.now() + afterMs, attempts: 0 });
  }

  /** Sends the messages that are held back in the reverse order, and each of them twice. */
  function sendInDisorder(): void {
    const held = ctx.outgoing.all().filter(({ id }) => !underWay.has(id));
    for (const { id } of held) ctx.outgoing.remove(String(id));
    const bodies = held.map(({ body }) => body).toReversed();
    for (const [i, body] of [...bodies, ...bodies].entries()) post(body, i * DISORDER_MS);
    isPaused = false;
  }

  async function deliver(id: number, body: string, attempts: number): Promise<void> {
    const signature = createHmac('sha512', keys[0] ?? '')
      .update(body)
      .digest('hex');
    const accepted = await fetch(receiver ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-paystack-signature': signature },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).then(
      async (answer) => (await answer.arrayBuffer(), answer.ok),
      () => false,
    );
    if (accepted) return ctx.outgoing.remove(String(id));
    const pause = REPEAT_MS[Math.min(attempts, REPEAT_MS.length - 1)] ?? 0;
    ctx.outgoing.put(String(id), { id, body, dueAt: Date.now() + pause, attempts: attempts + 1 });
  }

  function tick(): void {
    const now = Date.now();
    for (const { id, dueAt, ...planned } of ctx.planned.all()) {
      if (dueAt > now) continue;
      ctx.planned.remove(String(id));
      apply(planned);
    }
    if (isPaused) return;
    for (const { id, dueAt, body, attempts } of ctx.outgoing.all()) {
      if (dueAt > now || underWay.has(id)) continue;
      underWay.add(id);
      void deliver(id, body, attempts).finally(() => underWay.delete(id));
    }
  }

  const timer = setInterval(tick, TICK_MS);
  return {
    send,
    /** Sets the address of the receiver, as on the dashboard. */
    sendTo: (url: string): void => void (receiver = url),
    /** Holds messages back, as an outage of Paystack's sender does. */
    pause: (paused: boolean): void => void (isPaused = paused),
    sendInDisorder,
    waiting: () => ctx.outgoing.all().length,
    /** The number of planned changes, each of which may send a message. */
    planned: () => ctx.planned.all().length,
    stop: () => clearInterval(timer),
  };
}
