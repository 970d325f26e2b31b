import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import type { CardEvent } from '../providers/card-issuer.js';
import { newProviderEvent, type FindOwner } from './event.js';
import type { ProviderEventStarter } from './starter.js';
import type { ProviderEventStore } from './store.js';

export type ReceiveProviderEvent = (
  provider: string,
  event: CardEvent,
) => Promise<{ stored: boolean; after(): void }>;

/**
 * Takes what an issuer tells: stored once, with whose it is. `after` is for when the issuer has its answer, and starts
 * the workflow that applies it; what a crash leaves out, the dispatcher does.
 */
export function createReceiveProviderEvent(deps: {
  events: ProviderEventStore;
  findOwner: FindOwner;
  starter: ProviderEventStarter;
  log: Log;
  clock?: () => Date;
}): ReceiveProviderEvent {
  const { events, findOwner, starter, log, clock = () => new Date() } = deps;
  return async (provider, message) => {
    const received = newProviderEvent(provider, message, clock());
    const owner = await findOwner(provider, received);
    const event = owner
      ? { ...received, tenant_id: owner.tenantId, card_id: owner.card }
      : received;
    if (!(await events.insert(event))) return { stored: false, after: () => undefined };
    if (!owner) log.warn({ provider, event: event._id }, 'card event for no card of ours');
    const after = () => {
      failpoint('provider_event.stored');
      starter.startSoon(event);
    };
    return { stored: true, after };
  };
}
