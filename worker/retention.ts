import type { ProviderEvents } from '../src/core/provider-events/index.js';
import type { Log } from '../src/shared/log.js';
import type { Webhooks } from '../src/core/webhooks/index.js';
import { createLoop, type Loop } from './loop.js';
import { HOUR_MS } from '../src/shared/durations.js';

type Page = { removed: number; more: boolean };

/** Removes old processed documents, page by page. Several workers may run it at the same time. */
function createRetention(name: string, log: Log, removePage: () => Promise<Page>): Loop {
  return createLoop(async () => {
    try {
      const { removed, more } = await removePage();
      if (removed > 0) log.info({ events: removed }, `old ${name} removed`);
      return more;
    } catch (error) {
      log.warn({ err: error }, `old ${name} not removed, retrying`);
      return false;
    }
  }, HOUR_MS);
}

/** Removes webhook events whose deliveries are over and older than the retention time. */
export function createWebhookRetention({
  webhooks,
  log,
}: {
  webhooks: Pick<Webhooks, 'removeOld'>;
  log: Log;
}): Loop {
  let after = '';
  return createRetention('webhooks', log, async () => {
    const { removed, next } = await webhooks.removeOld(after);
    after = next ?? '';
    return { removed, more: next !== null };
  });
}

/** Removes processed provider events that are older than the retention time. */
export const createProviderEventRetention = (deps: {
  providerEvents: Pick<ProviderEvents, 'removeOld'>;
  log: Log;
}): Loop => createRetention('provider events', deps.log, deps.providerEvents.removeOld);
