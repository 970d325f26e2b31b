import { cardControlKinds } from '../cards/control/items.js';
import { fundingKinds } from '../cards/funding/items.js';
import { authorizationKinds } from '../cards/authorizations/items.js';
import { cardEventKinds } from '../cards/events/items.js';
import { issuingKinds } from '../cards/issuing/items.js';
import { chargeKinds } from '../payments/charges/items.js';
import { refundKinds } from '../payments/refunds/items.js';
import { recurringKinds } from '../payments/recurring/items.js';
import { tokenKinds } from '../payments/tokens/items.js';
import { transferKinds } from '../transfers/items.js';
import { credit } from './credit.js';
import type { Kind } from './kind.js';
import { answerWith, earlierAnswer, type AcceptOutcome, type Answer, type Claim } from './view.js';

/** A refusal that was found before the commit: nothing but its key is claimed, so that a retry gets the same answer. */
export type RefusalItem = { kind: 'refusal'; tenant: string; claim: Claim; answer: Answer };

const refusal: Kind<RefusalItem, AcceptOutcome> = {
  reads: ({ claim }) => ({ keys: [claim.id] }),
  decide: (view, item, now) =>
    earlierAnswer(view, item.claim, null, now) ?? answerWith(view, item, item.answer),
};

/** Everything that can be committed. A capability adds its kinds here. */
const kinds = {
  refusal,
  credit,
  ...transferKinds,
  ...issuingKinds,
  ...cardControlKinds,
  ...fundingKinds,
  ...authorizationKinds,
  ...cardEventKinds,
  ...tokenKinds,
  ...chargeKinds,
  ...refundKinds,
  ...recurringKinds,
};

type Kinds = typeof kinds;
type Name = keyof Kinds;
type ItemOf<N extends Name> = Parameters<Kinds[N]['decide']>[1];
/** What an item comes to: its kind says. */
export type OutcomeOf<I extends Item> = ReturnType<Kinds[I['kind']]['decide']>;

export type Item = { [N in Name]: ItemOf<N> }[Name];
export type Outcome = OutcomeOf<Item>;

/** The rules of an item. */
export const kindOf = (item: Item) => kinds[item.kind] as unknown as Kind<Item, Outcome>;
