import { mapWithConcurrency } from '../../shared/concurrency.js';
import type { Log } from '../../shared/log.js';
import type { EndFailure } from './answers.js';
import type { MakeAttempt } from './attempts.js';
import type { RetryAt } from './deliverer.js';
import type { Deliveries } from './deliveries.js';
import type { EndpointState } from './endpoint-state.js';
import type { EndpointDocument } from './endpoints.js';
import type { Delivery, StoredEvent } from './event.js';
import type { EndpointKey } from './waiting.js';
import type { WebhookDeliveryResult } from './workflow-contract.js';

/** Deliveries of a round to an endpoint that answers, and attempts in flight at once: as many as one process makes. */
const PAGE = 100;
const MAX_IN_FLIGHT = 8;
/** Deliveries that are tried in a round to an endpoint that fails: several, because one may be refused by itself. */
const PROBES = 3;
/** So many failures in a row end a round. */
const STOP_AFTER = 5;
/** A round starts no attempt after this, so that it ends within the time of its activity. */
const ROUND_MS = 8_000;

const LONG_AGO = new Date(0);

/** Successful and failed attempts of a round. */
type Tally = { taken: number; failed: number };

const CLOSED: WebhookDeliveryResult = { kind: 'closed' };
const AT_ONCE: WebhookDeliveryResult = { kind: 'waiting', afterMs: 0 };

/** The dependencies of a round. */
type RoundDeps = {
  deliveries: Deliveries;
  state: EndpointState;
  attempt: MakeAttempt;
  endFailure: EndFailure;
  retryAt: RetryAt;
  /** The pauses between the rounds to an endpoint that fails; the last one repeats. */
  scheduleMs: readonly number[];
  /** An endpoint that fails for longer is parked. */
  parkAfterMs: number;
  stallTimeoutMs: number;
  log: Log;
  clock: () => Date;
};

/**
 * Makes a round of attempts to deliver what waits for an endpoint. If the endpoint answers, the next round follows at once,
 * until nothing is due. If it does not, the rounds follow the schedule, and after days the endpoint is parked.
 */
export function createRounds(deps: RoundDeps) {
  const { deliveries, state, endFailure, stallTimeoutMs, clock } = deps;
  const conclude = createConclude(deps);

  async function waitUntil(id: string, at: Date): Promise<WebhookDeliveryResult> {
    const afterMs = Math.max(0, at.getTime() - clock().getTime());
    await state.checkAt(id, new Date(Date.now() + afterMs + stallTimeoutMs));
    return { kind: 'waiting', afterMs };
  }

  /** Closes the endpoint. A delivery that came to wait before that is still found, and a later one opens it again. */
  async function closeUnlessWaiting(of: EndpointKey): Promise<WebhookDeliveryResult> {
    const { _id: id } = of;
    await state.close(id);
    const next = await deliveries.nextRetryAt(of);
    if (!next) return CLOSED;
    await state.open(id, clock());
    return waitUntil(id, next);
  }

  async function untilNext(of: EndpointKey): Promise<WebhookDeliveryResult> {
    const next = await deliveries.nextRetryAt(of);
    return next ? waitUntil(of._id, next) : closeUnlessWaiting(of);
  }

  return async (id: string): Promise<WebhookDeliveryResult> => {
    const endpoint = await state.get(id);
    if (!endpoint || endpoint.status === 'disabled') {
      if (await deliveries.cancelWaiting(id)) return AT_ONCE;
      await state.close(id);
      return CLOSED;
    }
    if (endpoint.status === 'parked') return CLOSED;
    const { failing } = endpoint;
    if (failing && clock() < failing.retry_at) return waitUntil(id, failing.retry_at);
    const limit = failing ? PROBES : PAGE;
    const due = await deliveries.waiting(endpoint, { at: clock(), limit });
    if (due.length === 0) return untilNext(endpoint);
    const tally = await attemptAll(deps, due);
    if (tally.taken > 0) await endFailure(endpoint, clock());
    else if (tally.failed > 0) {
      const result = await conclude(endpoint);
      if (result === 'parked') return CLOSED;
      if (result) return waitUntil(id, result.retry_at);
    }
    return untilNext(endpoint);
  };
}

/** Decides after a round without success whether the endpoint fails, and whether it is parked. */
function createConclude({ state, scheduleMs, parkAfterMs, log, clock }: RoundDeps) {
  /** Null if the endpoint answers others: then only the deliveries of this round were refused. */
  return async (endpoint: EndpointDocument) => {
    const {
      _id: id,
      failing: before,
      answered_at: answeredAt,
      attempted_at: attemptedAt,
    } = endpoint;
    const now = clock();
    await state.attempted(id, now);
    if (!before && answeredAt && answeredAt > (attemptedAt ?? LONG_AGO)) return null;
    const since = before?.since ?? now;
    const rounds = (before?.rounds ?? 0) + 1;
    const pauseMs = scheduleMs[Math.min(rounds, scheduleMs.length - 1)] ?? 0;
    const parkAt = since.getTime() + parkAfterMs;
    if (now.getTime() >= parkAt) {
      if (!(await state.park(endpoint, { since, rounds, retry_at: now }))) return null;
      const about = { resource: id, tenant: endpoint.tenant_id, failing_since: since };
      log.warn(about, 'webhook endpoint parked: its deliveries wait until an operator resumes it');
      return 'parked';
    }
    const retryAt = new Date(Math.min(now.getTime() + pauseMs, parkAt));
    const failing = { since, rounds, retry_at: retryAt };
    return (await state.failed(endpoint, failing)) ? failing : null;
  };
}

/** Attempts these deliveries, those of one resource in sequence. */
async function attemptAll(deps: RoundDeps, due: readonly Delivery[]): Promise<Tally> {
  const events = await deps.deliveries.eventsOf(due);
  const begin = performance.now();
  const tally = { taken: 0, failed: 0 };
  let inARow = 0;
  await mapWithConcurrency(MAX_IN_FLIGHT, byResource(due), async (deliveries) => {
    for (const delivery of deliveries) {
      if (inARow >= STOP_AFTER || performance.now() - begin > ROUND_MS) return;
      const result = await attemptOnce(deps, delivery, events.get(delivery.event_id));
      if (result === 'taken') [tally.taken, inARow] = [tally.taken + 1, 0];
      if (result === 'failed') [tally.failed, inARow] = [tally.failed + 1, inARow + 1];
    }
  });
  return tally;
}

/** The deliveries of each resource, those of the first one of the queue first. */
function byResource(due: readonly Delivery[]): Delivery[][] {
  const groups = new Map<string, Delivery[]>();
  for (const delivery of due) {
    groups.set(delivery.resource_id, [...(groups.get(delivery.resource_id) ?? []), delivery]);
  }
  return [...groups.values()].map((group) => group.toSorted((a, b) => a.sequence - b.sequence));
}

/** Makes one attempt and records its result. */
async function attemptOnce(
  { deliveries, attempt, retryAt, clock }: RoundDeps,
  delivery: Delivery,
  event: StoredEvent | undefined,
): Promise<'taken' | 'failed' | 'cancelled'> {
  const of = delivery;
  const result = event ? await attempt(delivery, event.body) : 'no_endpoint';
  if (result === 'no_endpoint') {
    await deliveries.record({ of, kind: 'cancelled' });
    return 'cancelled';
  }
  if (result.error === null) {
    await deliveries.record({ of, kind: 'delivered', attempt: result });
    return 'taken';
  }
  const next = retryAt(delivery, clock());
  const nextCheckAt = deliveries.checkAgainAt();
  await deliveries.record({ of, kind: 'failed', attempt: result, retryAt: next, nextCheckAt });
  return 'failed';
}
