import type { Log } from '../src/log.js';
import { createLoop, type Loop } from './loop.js';

/** Takes up to so many of what was left; answers how many it took. */
type Sweep = (limit: number) => Promise<number>;

/**
 * Delivers what was written and never attempted, and brings back retries that have gone silent. A loop of its own:
 * transfers must not wait for webhooks, nor webhooks for a Temporal that is away.
 */
export const createWebhookSweep = (deps: { webhooks: { sweep: Sweep }; log: Log }): Loop =>
  sweepLoop(deps.log, { name: 'webhooks', batch: 500 }, (limit) => deps.webhooks.sweep(limit));

/** Applies callbacks of providers that were stored and left, one after the other: they need no Temporal either. */
export const createCallbackSweep = (deps: { callbacks: { sweep: Sweep }; log: Log }): Loop =>
  sweepLoop(deps.log, { name: 'callbacks', batch: 200 }, (limit) => deps.callbacks.sweep(limit));

const sweepLoop = (
  log: Log,
  { name, batch }: { name: string; batch: number },
  sweep: Sweep,
): Loop =>
  createLoop(async () => {
    try {
      const found = await sweep(batch);
      if (found > 0) log.info({ [name]: found }, 'what was left is taken up');
      return found === batch;
    } catch (error) {
      log.warn({ err: error, sweep: name }, 'not swept, trying again');
      return false;
    }
  });
