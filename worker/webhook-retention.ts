import type { Log } from '../src/log.js';
import type { Webhooks } from '../src/webhooks/outbound/webhooks.js';
import { createLoop, type Loop } from './loop.js';

const HOUR_MS = 60 * 60 * 1000;

/** Removes webhooks that are old and settled. Several workers may do it at once. */
export function createWebhookRetention({
  webhooks,
  log,
}: {
  webhooks: Pick<Webhooks, 'removeOld'>;
  log: Log;
}): Loop {
  let after = '';
  return createLoop(async () => {
    try {
      const { removed, next } = await webhooks.removeOld(after);
      if (removed > 0) log.info({ events: removed }, 'old webhooks removed');
      after = next ?? '';
      return next !== null;
    } catch (error) {
      log.warn({ err: error }, 'old webhooks not removed, trying again');
      return false;
    }
  }, HOUR_MS);
}
