import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../shared/log.js';
import type { NoteAnswer } from './answers.js';
import type { Health, MakeAttempt } from './attempts.js';
import type { Deliveries } from './deliveries.js';
import type { Delivery } from './event.js';
import { createLanes } from './lanes.js';
import type { DeliveryStarter } from './workflow-starter.js';

/** Straight deliveries under way at once to one endpoint, and in all. */
const MAX_PER_ENDPOINT = 8;
const MAX_IN_ALL = 256;
/** The most jobs that wait for one endpoint. Its workflow delivers the others. */
const MAX_WAITING = 500;

/** The time of the attempt after one that fails at this time; null after the last one. */
export type RetryAt = (delivery: Delivery, failedAt: Date) => Date | null;

/** A delivery with the bytes of its body. */
export type Job = { delivery: Delivery; body: string };
/** Delivers events at once, in the process that wrote them. */
export type Deliverer = ReturnType<typeof createDeliverer>;

/**
 * Makes the first deliveries in the process that wrote the event. Each endpoint has a lane of its own, so that one that
 * hangs does not delay others. A delivery that fails or can't start in time waits for the workflow of its endpoint. Nothing
 * here is durable: what a process that ends leaves behind becomes overdue soon, and recovery finds it.
 */
export function createDeliverer(deps: {
  deliveries: Deliveries;
  attempt: MakeAttempt;
  health: Health;
  noteAnswer: NoteAnswer;
  retryAt: RetryAt;
  /** When recovery looks at what waits for an endpoint, and sees to it that the endpoint has its workflow. */
  leaseEnd: () => Date;
  starter: DeliveryStarter;
  /** A job that waited longer would not end within its lease. */
  maxWaitMs: number;
  log: Log;
}) {
  const { deliveries, attempt, health, noteAnswer, starter, leaseEnd, maxWaitMs, log } = deps;
  const underWay = new Set<Promise<void>>();
  const lanes = createLanes<Job>({
    run: (job, waitedMs) => {
      const straight = waitedMs <= maxWaitMs && health.mayTry(job.delivery.endpoint_id);
      return track(straight ? deliver(job) : leaveToWorkflow(job), job);
    },
    maxPerLane: MAX_PER_ENDPOINT,
    maxInAll: MAX_IN_ALL,
    maxWaitingPerLane: MAX_WAITING,
  });

  /** Makes one attempt and records its result. */
  async function deliver({ delivery, body }: Job): Promise<void> {
    const of = delivery;
    const result = await attempt(delivery, body);
    if (result === 'no_endpoint') return deliveries.record({ of, kind: 'cancelled' });
    if (result.error === null) {
      await deliveries.record({ of, kind: 'delivered', attempt: result });
      return noteAnswer(delivery);
    }
    const retryAt = deps.retryAt(delivery, new Date());
    const nextCheckAt = leaseEnd();
    await deliveries.record({ of, kind: 'failed', attempt: result, retryAt, nextCheckAt });
    if (retryAt) starter.wakeSoon(delivery.endpoint_id);
  }

  /** Leaves the first attempt, too, to the workflow of the endpoint. */
  async function leaveToWorkflow({ delivery }: Job): Promise<void> {
    await deliveries.record({ of: delivery, kind: 'waiting', nextCheckAt: leaseEnd() });
    starter.wakeSoon(delivery.endpoint_id);
  }

  function track(work: Promise<void>, { delivery }: Job): Promise<void> {
    const { resource_id: resource, tenant_id: tenant, endpoint_id: endpoint } = delivery;
    const about = { resource, tenant, endpoint, event: delivery.event_id };
    const tracked = work
      .catch((error: unknown) => log.warn({ err: error, ...about }, 'delivery left to recovery'))
      .finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  }

  return {
    /** Delivers these as soon as may be. Never fails and is not waited for. */
    deliverSoon(jobs: readonly Job[]): void {
      for (const job of jobs) {
        if (!lanes.offer(job.delivery.endpoint_id, job)) void track(leaveToWorkflow(job), job);
      }
      lanes.pump();
    },

    /** Accepts no more jobs. Deliveries in flight get this time to end; recovery makes the others. */
    async stop(withinMs: number): Promise<void> {
      lanes.stop();
      const timer = new AbortController();
      const timeIsUp = sleep(withinMs, undefined, { signal: timer.signal }).catch(() => undefined);
      await Promise.race([Promise.all(underWay), timeIsUp]);
      timer.abort();
      await deliveries.idle();
    },
  };
}
