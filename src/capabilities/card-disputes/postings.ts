import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { timelineEntry } from '../../core/instructions/instruction.js';
import { bookDisputeFact, type AuthorizationTerms } from '../card-authorizations/mutations.js';
import {
  cardAuthorizations,
  excessOf,
  OVER_RETURNED,
  type CardAuthorization,
} from '../card-authorizations/record.js';
import { cards } from '../cards/record.js';
import type { CardDispute } from './record.js';
import type { DisputeTransition } from './transitions.js';

type DisputeChange = Pick<DisputeTransition, 'creditedMinor' | 'disputedMinor' | 'returnableMinor'>;

/** Books what a dispute has changed on its payment: those who paid get what the issuer gives, and pay it again. */
export function bookDispute(
  uow: UnitOfWork,
  dispute: CardDispute,
  change: DisputeChange & { terms: AuthorizationTerms },
  now: Date,
): void {
  const { creditedMinor, disputedMinor, returnableMinor, terms } = change;
  if (creditedMinor === 0n && disputedMinor === 0n && returnableMinor === 0n) return;
  const found = uow.get(cardAuthorizations, dispute.authorization_id);
  const card = uow.get(cards, dispute.card_id);
  if (!found || !card) throw new Error(`the payment of ${dispute._id} is not there`);
  const authorization = withExcess(found, withDisputed(found, change), now);
  if (creditedMinor === 0n) {
    const version = authorization.version + 1;
    uow.change(cardAuthorizations, { ...authorization, version, updated_at: now });
    return;
  }
  const isCredit = creditedMinor > 0n;
  const fact = {
    key: `${dispute._id}-${dispute.version}`,
    kind: isCredit ? 'dispute_credited' : 'dispute_debited',
    amount_minor: isCredit ? creditedMinor : -creditedMinor,
    at: now,
  } as const;
  bookDisputeFact(uow, { authorization, card, fact, terms }, now);
}

/** Calls an operator if the payment has more disputed now than is left of it. */
function withExcess(
  before: CardAuthorization,
  after: CardAuthorization,
  now: Date,
): CardAuthorization {
  if (excessOf(after) <= excessOf(before)) return after;
  const entry = timelineEntry(now, 'attention_raised', 'bursar', { detail: OVER_RETURNED });
  return {
    ...after,
    attention: { since: now, reason: OVER_RETURNED },
    timeline: [...after.timeline, entry],
  };
}

/** The payment with a change of what its disputes are about, and of what they may return. */
export const withDisputed = (
  authorization: CardAuthorization,
  { disputedMinor, returnableMinor }: Pick<DisputeChange, 'disputedMinor' | 'returnableMinor'>,
): CardAuthorization => ({
  ...authorization,
  disputed_minor: (authorization.disputed_minor ?? 0n) + disputedMinor,
  returnable_minor: (authorization.returnable_minor ?? 0n) + returnableMinor,
});
