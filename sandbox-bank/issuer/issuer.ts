import { createAuthorizations, type Authorizations } from './authorizations.js';
import type { CallbackUrls } from '../shared/callbacks.js';
import type { CardContext } from './context.js';
import { createCards, type Cards } from './cards.js';
import { createFundings, type Fundings } from './fundings.js';
import type { Log } from '../shared/log.js';
import type { CallbackSender } from '../shared/callback-sender.js';

/** The card issuer: it shares the bank's journal, signatures and faults, and nothing else. */
export type Issuer = { cards: Cards; fundings: Fundings; authorizations: Authorizations };

export function createIssuer(
  parts: Omit<CardContext, 'sendsCallbacks'> & {
    urls: CallbackUrls;
    log: Log;
    callbackSender: CallbackSender;
    answerWithinMs?: number;
  },
): Issuer {
  const { urls, answerWithinMs = 2_000 } = parts;
  const cardContext = { ...parts, sendsCallbacks: urls.cards !== null };
  return {
    cards: createCards(cardContext),
    fundings: createFundings(cardContext),
    authorizations: createAuthorizations({ ...parts, url: urls.cards, answerWithinMs }),
  };
}
