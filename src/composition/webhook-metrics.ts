import { Counter, Histogram, type Registry } from 'prom-client';
import type { ObserveAttempt } from '../core/webhooks/attempts.js';

const DELAYS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 1_800, 7_200, 86_400];
const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the attempts to deliver events and the delay of those that were taken. No label names a tenant or an endpoint. */
export function measureDeliveries(
  registry: Registry,
): (attempt: Omit<Parameters<ObserveAttempt>[0], 'delivery' | 'status'>) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: 'bursar_webhook_attempts_total',
    help: 'Attempts to deliver an event, by result: taken, or the reason of the failure.',
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: 'bursar_webhook_attempt_duration_seconds',
    help: 'Time to the answer of a receiver, or to the end of the wait for one.',
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const delay = new Histogram({
    name: 'bursar_webhook_delivery_delay_seconds',
    help: 'Time from an event to the attempt that was taken. Deliveries that operators sent again are left out.',
    buckets: DELAYS_SECONDS,
    registers,
  });
  return ({ result, seconds, delaySeconds }) => {
    attempts.inc({ result });
    duration.observe(seconds);
    if (delaySeconds !== null) delay.observe(Math.max(0, delaySeconds));
  };
}
