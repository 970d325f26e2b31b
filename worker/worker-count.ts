import type { Client } from '@temporalio/client';
import type { Log } from '../src/shared/log.js';
import { pollersOf, WORKFLOW_TASKS } from '../src/platform/temporal/pollers.js';
import { createLoop, type Loop } from './loop.js';

const EVERY_MS = 5_000;

/** Counts the running worker processes, this one included; 0 while the number is unknown. */
export function createWorkerCount({
  client,
  namespace,
  taskQueue,
  log,
}: {
  client: Client;
  namespace: string;
  taskQueue: string;
  log: Log;
}): { loop: Loop; count: () => number } {
  let count = 0;
  const loop = createLoop(async () => {
    try {
      count = (await pollersOf(client, namespace, taskQueue, WORKFLOW_TASKS)).alive;
    } catch (error) {
      // With an unknown number the shared rate cannot be divided, so all submissions use the task queues.
      count = 0;
      log.warn({ err: error }, 'worker count failed, retrying');
    }
    return false;
  }, EVERY_MS);
  return { loop, count: () => count };
}
