import type { ProviderEvents } from '../src/core/provider-events/index.js';
import type { Log } from '../src/shared/log.js';
import type { Webhooks } from '../src/core/webhooks/index.js';
import { createLoop, type Loop } from './loop.js';

const HOUR_MS = 60 * 60 * 1000;

type Page = { removed: number; more: boolean };

/** Removes what is old and settled, page by page. Several workers may do it at once. */
function createRetention(what: string, log: Log, removePage: () => Promise<Page>): Loop {
  return createLoop(async () => {
    try {
      const { removed, more } = await removePage();
      if (removed > 0) log.info({ events: removed }, `old ${what} removed`);
      return more;
    } catch (error) {
      log.warn({ err: error }, `old ${what} not removed, trying again`);
      return false;
    }
  }, HOUR_MS);
}

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

export const createProviderEventRetention = (deps: {
  providerEvents: Pick<ProviderEvents, 'removeOld'>;
  log: Log;
}): Loop => createRetention('card events', deps.log, deps.providerEvents.removeOld);
