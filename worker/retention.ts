import type { Db } from 'mongodb';
import type { ProviderEvents } from '../src/core/provider-events/index.js';
import type { Log } from '../src/shared/log.js';
import type { Webhooks } from '../src/core/webhooks/index.js';
import { createLeasedWork } from '../src/platform/database/lease.js';
import { createLoop, type Loop } from './loop.js';
import { HOUR_MS } from '../src/shared/durations.js';

const MINUTE_MS = 60_000;

type Page = { removed: number; more: boolean };
type Deps = { database: { db: Db }; log: Log };

/** Removes old processed documents, page by page, every hour. Several workers may run it: a lease lets one of them do it. */
function createRetention(
  { database: { db }, log }: Deps,
  name: string,
  removePage: () => Promise<Page>,
): Loop {
  const leased = createLeasedWork(db, { name: `retention of ${name}`, everyMs: HOUR_MS });
  async function remove(): Promise<boolean> {
    const { removed, more } = await removePage();
    if (removed > 0) log.info({ events: removed }, `old ${name} removed`);
    return more;
  }
  return createLoop(
    () =>
      leased(remove).catch((error: unknown) => {
        log.warn({ err: error }, `old ${name} not removed, retrying`);
        return false;
      }),
    MINUTE_MS,
  );
}

/** Removes webhook events whose deliveries are over and older than the retention time. */
export function createWebhookRetention(
  deps: Deps & { webhooks: Pick<Webhooks, 'removeOld'> },
): Loop {
  let after = '';
  return createRetention(deps, 'webhooks', async () => {
    const { removed, next } = await deps.webhooks.removeOld(after);
    after = next ?? '';
    return { removed, more: next !== null };
  });
}

/** Removes processed provider events that are older than the retention time. */
export const createProviderEventRetention = (
  deps: Deps & { providerEvents: Pick<ProviderEvents, 'removeOld'> },
): Loop => createRetention(deps, 'provider events', deps.providerEvents.removeOld);
