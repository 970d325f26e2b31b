import type { CardEventState } from '../../providers/card-issuer.js';
import type { CardEventOwner, StoredCardEvent } from './event.js';

/** What the guard of an event's subject said; `not_there`: we have nothing of what it is about. */
export type Applied = { kind: 'applied'; outcome: string } | { kind: 'not_there' };

export type ApplyCardEvent = (event: StoredCardEvent, owner: CardEventOwner) => Promise<Applied>;

/** Books what an event says by the guard of its subject. Repeatable without limit, in any order. */
export const createApplyCardEvent =
  (subjects: Record<CardEventState['subject'], ApplyCardEvent>): ApplyCardEvent =>
  (event, owner) =>
    subjects[event.state.subject](event, owner);
