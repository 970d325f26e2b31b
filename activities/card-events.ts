import type { CardEvents } from '../src/cards/events/card-events.js';

export type CardEventActivityDeps = { cardEvents: Pick<CardEvents, 'handling'> };

export function createCardEventActivities({ cardEvents }: CardEventActivityDeps) {
  return {
    /** One try of a stored event. Fails only with our own store, and is then repeated. */
    applyCardEvent: (given: { id: string; nextMs: number | null }) =>
      cardEvents.handling.applyCardEvent(given),

    /** The same once more, by a replay. */
    replayCardEvent: (given: { id: string }) => cardEvents.handling.replayCardEvent(given),
  };
}
