import { randomUUID, randomInt } from 'node:crypto';
import { isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import { ISSUED_AFTER_MS, issueBehaviour } from './behaviours.js';
import type { CardFace, CardRequest, CardRecord, CardStateRequest } from './records.js';
import type { CardContext } from './context.js';
import type { Card } from './card-state.js';
import { noSuchCard, presentCard } from './wire.js';
import { createRequestHandler, type RequestKind } from '../shared/request-handler.js';
import { createCardStates } from './card-state-requests.js';
import type { IssuerChange } from '../shared/journal-effects.js';
import { answer, type Outcome } from '../shared/wire.js';

const BRAND = 'verve';
const VALID_YEARS = 3;

/** The issuer's operations on cards. */
export type Cards = {
  issue(order: CardRequest): Outcome;
  /** Finds a card by the client's name of it. */
  lookup(name: string): Outcome;
  /** Finds a card by the issuer's id. */
  show(id: string): Outcome;
  setState(id: string, order: CardStateRequest): Outcome;
  /** The issuer changes a card by itself, which is named by either side's id. */
  change(name: string, status: IssuerChange): Outcome;
  /** After a start: schedules the issuances that were still open at the last stop. */
  resume(): void;
};

/** Creates the issuer's cards. */
export function createCards(parts: CardContext): Cards {
  const { journal, timers, rules, sendsCallbacks, lookup } = parts;
  const { cards } = parts.state;
  const present = (card: Card) =>
    lookup.named('card-order', card, presentCard(card, isIssuanceWithheld(card)));
  const isIssuanceWithheld = (card: Card) =>
    card.status === 'issued' && isOutcomeWithheld(card, sendsCallbacks);

  function issued(card: number, at: number): CardRecord {
    return { kind: 'issued', card, seq: journal.nextSeq(), face: newFace(at), at };
  }

  const states = createCardStates(parts);

  function scheduleNextOutcome(card: Card): void {
    if (card.status !== 'pending') return states.schedule(card);
    timers.after(card.createdAt + ISSUED_AFTER_MS - Date.now(), () => {
      const at = Date.now();
      const about = { card: card.number };
      journal.commitAndNotify(issued(card.number, at), { about, event: 'card.issued', at });
      states.schedule(card);
    });
  }

  function take(order: CardRequest, at: number): Card {
    const number = cards.all.length;
    const behaviour = issueBehaviour(order.client_reference);
    const outcome: CardRecord[] = [];
    if (behaviour === 'refused') {
      outcome.push({ kind: 'issue_refused', card: number, code: 'not_eligible', at });
    } else if (isExecutedAtOnce(behaviour)) outcome.push(issued(number, at));
    journal.commit([{ kind: 'card_ordered', card: number, order, at }, ...outcome]);
    const card = cards.get(number);
    scheduleNextOutcome(card);
    return card;
  }

  const kind: RequestKind<CardRequest, Card> = {
    what: 'card',
    find: ({ reference }) => cards.withReference(reference),
    isSame: ({ order }, repeated) =>
      order.client_reference === repeated.client_reference && order.type === repeated.type,
    behaviourOf: ({ client_reference }) => issueBehaviour(client_reference),
    keyOf: ({ reference }) => `issue/${reference}`,
    accept: take,
    present,
  };

  return {
    // A card is not money, so one reference always makes one card, even without de-duplication.
    issue: createRequestHandler(kind, { ...rules, deduplicate: true, deduplicateForMs: null }),
    lookup(name) {
      const reference = lookup.referenceOf('card-order', name, cards.all);
      const card = reference === null ? undefined : cards.withReference(reference);
      return card ? answer(200, present(card)) : noSuchCard();
    },
    show(id) {
      const card = cards.withId(id);
      return card ? answer(200, presentCard(card)) : noSuchCard();
    },
    setState: (id, order) => states.set(id, order),
    change: (name, status) => states.change(name, status),
    resume() {
      for (const card of cards.all) scheduleNextOutcome(card);
    },
  };
}

function newFace(at: number): CardFace {
  const expiry = new Date(at);
  return {
    id: randomUUID(),
    brand: BRAND,
    last4: String(randomInt(10_000)).padStart(4, '0'),
    expiry_month: expiry.getUTCMonth() + 1,
    expiry_year: expiry.getUTCFullYear() + VALID_YEARS,
  };
}
