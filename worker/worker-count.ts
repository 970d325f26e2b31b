import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Log } from '../src/shared/log.js';
import { pollersOf, WORKFLOW_TASKS } from '../src/platform/temporal/pollers.js';
import { createLoop, type Loop } from './loop.js';

const EVERY_MS = 5_000;
/** Pause while not even this process has polled yet: until it is counted, no provider is called. */
const FIRST_MS = 200;

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
      const itself = { isPolling: true };
      count = (await pollersOf(client, namespace, taskQueue, WORKFLOW_TASKS, itself)).alive;
      if (count === 0) {
        await sleep(FIRST_MS);
        return true;
      }
    } catch (error) {
      // With an unknown number no submission is local, and the task queues go on with the last number.
      count = 0;
      log.warn({ err: error }, 'worker count failed, retrying');
    }
    return false;
  }, EVERY_MS);
  return { loop, count: () => count };
}
