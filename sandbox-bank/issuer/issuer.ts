import { createAuthorizations, type Authorizations } from './authorizations.js';
import type { CallbackUrls } from '../shared/callbacks.js';
import type { CardContext } from './context.js';
import { createCards, type Cards } from './cards.js';
import { createFundings, type Fundings } from './fundings.js';
import type { Log } from '../shared/log.js';
import type { CallbackSender } from '../shared/callback-sender.js';

/** The issuer's operations. The issuer shares only the journal, signatures and faults with the bank. */
export type Issuer = { cards: Cards; fundings: Fundings; authorizations: Authorizations };

/** Creates the card issuer. */
export function createIssuer(
  parts: Omit<CardContext, 'sendsCallbacks' | 'balances'> & {
    urls: CallbackUrls;
    log: Log;
    callbackSender: CallbackSender;
    answerWithinMs?: number;
    cardBalances?: CardContext['balances'];
  },
): Issuer {
  const { urls, answerWithinMs = 2_000, cardBalances: balances = 'issuer' } = parts;
  const cardContext = { ...parts, balances, sendsCallbacks: urls.cards !== null };
  return {
    cards: createCards(cardContext),
    fundings: createFundings(cardContext),
    authorizations: createAuthorizations({ ...parts, url: urls.cards, answerWithinMs }),
  };
}
