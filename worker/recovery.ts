import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

/** Takes up to so many of what was left; answers how many it took. */
type Recover = (limit: number) => Promise<number>;

/**
 * Delivers what was written and never attempted, and brings back retries that have gone silent. A loop of its own:
 * transfers must not wait for webhooks, nor webhooks for a Temporal that is away.
 */
export const createWebhookRecovery = (deps: { webhooks: { sweep: Recover }; log: Log }): Loop =>
  recoveryLoop(deps.log, { name: 'webhooks', batch: 500 }, (limit) => deps.webhooks.sweep(limit));

/** Applies callbacks of providers that were stored and left, one after the other: they need no Temporal either. */
export const createCallbackRecovery = (deps: { callbacks: { sweep: Recover }; log: Log }): Loop =>
  recoveryLoop(deps.log, { name: 'callbacks', batch: 200 }, (limit) => deps.callbacks.sweep(limit));

const recoveryLoop = (
  log: Log,
  { name, batch }: { name: string; batch: number },
  recover: Recover,
): Loop =>
  createLoop(async () => {
    try {
      const found = await recover(batch);
      if (found > 0) log.info({ [name]: found }, 'recovered unprocessed records');
      return found === batch;
    } catch (error) {
      log.warn({ err: error, sweep: name }, 'recovery failed, retrying');
      return false;
    }
  });
