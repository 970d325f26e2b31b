import { stateBehaviour } from './behaviours.js';
import type { CardStateRequest } from './records.js';
import type { Card } from './card-state.js';
import { noSuchCard, presentCard } from './wire.js';
import type { CardContext } from './context.js';
import { answered } from '../shared/request-handler.js';
import { errorAnswer, type Outcome } from '../shared/wire.js';

/** Creates the operation that sets a card's state. A repeated request has no further effect. */
export function createCardStateSetter(parts: CardContext) {
  const { state, journal, rules } = parts;
  return (id: string, order: CardStateRequest): Outcome => {
    const at = Date.now();
    const card = state.cards.withId(id);
    if (!card) return noSuchCard();
    const refusal = refusalOf(card, order);
    if (refusal) return refusal;
    const behaviour = stateBehaviour(order.client_reference);
    const away = rules.turnAway(`state/${id}/${order.client_reference}`, behaviour, at);
    if (away) return away;
    if (order.version > card.version) {
      const seq = order.state === card.state ? null : journal.nextSeq();
      journal.commit([{ kind: 'state_set', card: card.number, seq, order, at }]);
    }
    return answered(behaviour, 200, presentCard(card));
  };
}

/** An older request never overwrites a newer one, and a closed card stays closed. */
function refusalOf(card: Card, { state, version }: CardStateRequest): Outcome | null {
  if (version < card.version) {
    return errorAnswer(409, 'superseded', 'a newer version has been set');
  }
  if (version === card.version && state !== card.state) {
    return errorAnswer(409, 'version_conflict', 'this version has set another state');
  }
  return card.state === 'closed' && state !== 'closed'
    ? errorAnswer(409, 'card_closed', 'the card is closed for good')
    : null;
}
