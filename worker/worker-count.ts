import type { Client } from '@temporalio/client';
import type { Log } from '../src/shared/log.js';
import { pollersOf, WORKFLOW_TASKS } from '../src/platform/temporal/pollers.js';
import { createLoop, type Loop } from './loop.js';

const EVERY_MS = 5_000;

/** Keeps counting how many worker processes there are, this one among them. */
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
      // Nobody knows who else is there: what is divided among all is left to the queues.
      count = 0;
      log.warn({ err: error }, 'workers not counted, trying again');
    }
    return false;
  }, EVERY_MS);
  return { loop, count: () => count };
}
