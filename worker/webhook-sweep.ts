import type { Log } from '../src/log.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 500;

/**
 * Delivers what was written and never attempted, and brings back retries that have gone silent. A loop of its own:
 * transfers must not wait for webhooks, nor webhooks for a Temporal that is away.
 */
export function createWebhookSweep({
  webhooks,
  log,
}: {
  webhooks: { sweep(limit: number): Promise<number> };
  log: Log;
}): Loop {
  return createLoop(async () => {
    try {
      const found = await webhooks.sweep(BATCH);
      if (found > 0) log.info({ deliveries: found }, 'overdue webhooks taken up');
      return found === BATCH;
    } catch (error) {
      log.warn({ err: error }, 'webhooks not swept, trying again');
      return false;
    }
  });
}
