import { SET_LATE_MS, stateBehaviour } from './behaviours.js';
import type { CardStateRequest } from './records.js';
import type { Card } from './card-state.js';
import { noSuchCard, presentCard } from './wire.js';
import type { CardContext } from './context.js';
import type { IssuerChange } from '../shared/journal-effects.js';
import { answered } from '../shared/request-handler.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';

/** Changes of the states of cards, by the client and by the issuer itself. */
export type CardStates = ReturnType<typeof createCardStates>;

/** Creates the operations on a card's state. A repeated request has no further effect. */
export function createCardStates(parts: CardContext) {
  const { state, journal, rules, timers, stateSequence } = parts;
  const ordered = stateSequence === 'issuer';

  function set(card: Card, order: CardStateRequest): void {
    if (ordered && order.version <= card.version) return;
    const seq = order.state === card.state ? null : journal.nextSeq();
    journal.commit([{ kind: 'state_set', card: card.number, seq, order, at: Date.now() }]);
    schedule(card);
  }

  /** Without versions an older request overwrites a newer one. */
  function setLate(card: Card, order: CardStateRequest): void {
    if (refusalOf(card, order, ordered)) return;
    set(card, order);
    const at = Date.now();
    journal.notify({ about: { card: card.number }, event: 'card.state_changed', at });
  }

  function change(card: Card, status: IssuerChange): void {
    const at = Date.now();
    const record = {
      kind: 'issuer_changed_card',
      card: card.number,
      seq: journal.nextSeq(),
    } as const;
    journal.commitAndNotify(
      { ...record, status, at },
      { about: { card: card.number }, event: 'card.state_changed', at },
    );
  }

  /** Schedules the change that the issuer makes by itself. */
  function schedule(card: Card): void {
    const { planned } = card;
    if (!planned) return;
    timers.after(planned.at - Date.now(), () => {
      if (card.planned === planned) change(card, planned.status);
    });
  }

  return {
    schedule,

    set(id: string, order: CardStateRequest): Outcome {
      const at = Date.now();
      const card = state.cards.withId(id);
      if (!card) return noSuchCard();
      const refusal = refusalOf(card, order, ordered);
      if (refusal) return refusal;
      const behaviour = stateBehaviour(order.client_reference);
      const away = rules.turnAway(`state/${id}/${order.client_reference}`, behaviour, at);
      if (away && behaviour === 'executed_late') {
        timers.after(SET_LATE_MS, () => setLate(card, order));
      }
      if (away) return away;
      set(card, order);
      return answered(behaviour, 200, presentCard(card));
    },

    /** The issuer changes a card by itself, and calls back. */
    change(name: string, status: IssuerChange): Outcome {
      const card = state.cards.withId(name) ?? state.cards.withReference(name);
      if (card?.status !== 'issued') return noSuchCard();
      if (card.state === 'closed') return errorAnswer(409, 'card_closed', 'the card is closed');
      change(card, status);
      return answer(200, presentCard(card));
    },
  };
}

/** A closed card stays closed, and a lock of the issuer stays. With versions, an older request never overwrites a newer one. */
function refusalOf(
  card: Card,
  { state, version }: CardStateRequest,
  ordered: boolean,
): Outcome | null {
  if (ordered && version < card.version) {
    return errorAnswer(409, 'superseded', 'a newer version has been set');
  }
  if (ordered && version === card.version && state !== card.state) {
    return errorAnswer(409, 'version_conflict', 'this version has set another state');
  }
  if (card.isLockedByIssuer && state === 'open') {
    return errorAnswer(409, 'locked_by_issuer', 'the issuer has locked the card');
  }
  return card.state === 'closed' && state !== 'closed'
    ? errorAnswer(409, 'card_closed', 'the card is closed for good')
    : null;
}
