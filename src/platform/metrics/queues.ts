import type { Registry } from 'prom-client';
import { addGauge } from './gauge.js';

/** Registers a gauge of the items that wait in this process, by queue. */
export function measureQueues(registry: Registry, queues: Record<string, () => number>): void {
  addGauge(registry, {
    name: 'bursar_queue_waiting',
    help: 'Waiting items in this process, by queue.',
    label: 'queue',
    read: () =>
      Object.fromEntries(Object.entries(queues).map(([queue, waiting]) => [queue, waiting()])),
  });
}
