import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import type { CardEvent } from '../providers/card-issuer.js';
import { newCardEvent } from './event.js';
import type { FindOwner } from './event.js';
import type { CardEventStarter } from './starter.js';
import type { CardEventStore } from './store.js';

export type ReceiveCardEvent = (
  provider: string,
  event: CardEvent,
) => Promise<{ stored: boolean; after(): void }>;

/**
 * Takes what an issuer tells: stored once, with whose it is. `after` is for when the issuer has its answer, and starts
 * the workflow that applies it; what a crash leaves out, the dispatcher does.
 */
export function createReceiveCardEvent(deps: {
  events: CardEventStore;
  findOwner: FindOwner;
  starter: CardEventStarter;
  log: Log;
  clock?: () => Date;
}): ReceiveCardEvent {
  const { events, findOwner, starter, log, clock = () => new Date() } = deps;
  return async (provider, told) => {
    const received = newCardEvent(provider, told, clock());
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
