import { LRUCache } from 'lru-cache';
import type { Log } from '../../shared/log.js';
import { failpoint } from '../../shared/failpoints.js';
import type { Endpoints } from './endpoints.js';
import type { Attempt, AttemptError, Delivery } from './event.js';
import { signatures } from './secrets.js';
import type { Sender } from './sender.js';

/** So many failures in a row make an endpoint one that is known to be failing. */
const FAILING_AFTER = 3;
/** A failing endpoint gets one straight delivery in this time: the one that finds out that it is back. */
const PROBE_EVERY_MS = 15_000;
const MAX_REMEMBERED = 10_000;

/** The health of endpoints, as this process knows it. */
export type Health = ReturnType<typeof createHealth>;

/** Remembers the failures of endpoints in this process. It only saves futile attempts, so it is not stored. */
export function createHealth() {
  const known = new LRUCache<string, { failures: number; probedAt: number }>({
    max: MAX_REMEMBERED,
  });
  const isFailing = (endpoint: string) => (known.peek(endpoint)?.failures ?? 0) >= FAILING_AFTER;
  const wouldTry = (endpoint: string) => {
    const probedAt = known.get(endpoint)?.probedAt ?? 0;
    return !isFailing(endpoint) || performance.now() - probedAt >= PROBE_EVERY_MS;
  };
  return {
    note(endpoint: string, taken: boolean): void {
      if (taken) return void known.delete(endpoint);
      const failures = (known.peek(endpoint)?.failures ?? 0) + 1;
      known.set(endpoint, { failures, probedAt: performance.now() });
    },
    /** True if an immediate delivery could be tried now. */
    wouldTry,
    /** True if an immediate delivery may be tried. For a failing endpoint that is once per interval. */
    mayTry(endpoint: string): boolean {
      if (!wouldTry(endpoint)) return false;
      const state = known.get(endpoint);
      if (state && isFailing(endpoint)) state.probedAt = performance.now();
      return true;
    },
  };
}

/** Told of each attempt that was sent. It must not fail. */
export type ObserveAttempt = (attempt: {
  result: AttemptError | 'taken';
  seconds: number;
  /** From the event to the first time that it was taken; null if it was not, or if an operator has sent it again. */
  delaySeconds: number | null;
  delivery: Delivery;
  /** The status of the answer; null without one. */
  status: number | null;
}) => void;

/** Makes one attempt and returns its result. */
export type MakeAttempt = (delivery: Delivery, body: string) => Promise<Attempt | 'no_endpoint'>;

/** One attempt: signs these bytes for now and sends them to where the endpoint is now, if it still is. */
export function createAttempts(deps: {
  endpoints: Pick<Endpoints, 'listener'>;
  sender: Sender;
  health: Health;
  log: Log;
  observe?: ObserveAttempt | undefined;
}): MakeAttempt {
  const { endpoints, sender, health } = deps;
  return async (delivery, body) => {
    const endpoint = await endpoints.listener(delivery.tenant_id, delivery.endpoint_id);
    if (!endpoint) return 'no_endpoint';
    const now = new Date();
    const secrets = endpoint.secrets();
    if (secrets.length === 0)
      return { at: now, status: null, error: 'secret_unreadable', duration_ms: 0 };
    const timestamp = Math.floor(now.getTime() / 1000);
    const { event_id: id } = delivery;
    failpoint('webhook.before');
    const attempt = await sender.send(
      endpoint.url,
      {
        'content-type': 'application/json',
        'user-agent': 'Bursar-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures(secrets, { id, timestamp, body }),
      },
      body,
    );
    failpoint('webhook.after');
    health.note(delivery.endpoint_id, attempt.error === null);
    logAttempt(deps.log, delivery, attempt);
    const taken = attempt.error === null && delivery.redeliveries === 0;
    deps.observe?.({
      delivery,
      status: attempt.status,
      result: attempt.error ?? 'taken',
      seconds: attempt.duration_ms / 1000,
      delaySeconds: taken ? (Date.now() - delivery.created_at.getTime()) / 1000 : null,
    });
    return attempt;
  };
}

/** A line for each failed attempt; one that was taken is of interest only to who follows a single record. */
function logAttempt(log: Log, delivery: Delivery, { status, error, duration_ms: ms }: Attempt) {
  const { resource_id: resource, tenant_id: tenant, endpoint_id: endpoint } = delivery;
  const ids = { resource, tenant, endpoint, event: delivery.event_id };
  if (error === null) log.debug({ ...ids, status, ms }, 'webhook delivered');
  else log.info({ ...ids, status, error, ms }, 'webhook attempt failed');
}
