import { createAuthorizations, type Authorizations } from './authorizations.js';
import type { CallbackUrls } from '../shared/callbacks.js';
import type { CardContext } from './context.js';
import { createCards, type Cards } from './cards.js';
import { createOrderLookup } from './order-lookup.js';
import { createFundings, type Fundings } from './fundings.js';
import { createDisputes, type Disputes } from './disputes.js';
import type { Log } from '../shared/log.js';
import type { CallbackSender } from '../shared/callback-sender.js';

/** The issuer's operations. The issuer shares only the journal, signatures and faults with the bank. */
export type Issuer = {
  cards: Cards;
  fundings: Fundings;
  authorizations: Authorizations;
  disputes: Disputes;
};

/** Creates the card issuer. */
export function createIssuer(
  parts: Omit<CardContext, 'sendsCallbacks' | 'balances' | 'stateSequence' | 'lookup'> & {
    urls: CallbackUrls;
    log: Log;
    callbackSender: CallbackSender;
    answerWithinMs?: number;
    cardBalances?: CardContext['balances'];
    cardStateSequence?: CardContext['stateSequence'];
    cardLookup?: 'reference' | 'id';
  },
): Issuer {
  const { urls, answerWithinMs = 2_000, cardBalances: balances = 'issuer' } = parts;
  const { cardStateSequence: stateSequence = 'issuer', cardLookup = 'reference' } = parts;
  const rules = { balances, stateSequence, lookup: createOrderLookup(cardLookup) };
  const cardContext = { ...parts, ...rules, sendsCallbacks: urls.cards !== null };
  return {
    cards: createCards(cardContext),
    fundings: createFundings(cardContext),
    disputes: createDisputes(cardContext),
    authorizations: createAuthorizations({ ...parts, url: urls.cards, answerWithinMs }),
  };
}
