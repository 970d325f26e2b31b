import { ApiError } from '../../errors.js';
import type { Kind } from '../../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  refusalAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
  type View,
} from '../../ledger/view.js';
import { toWireAmount } from '../../money.js';
import type { Guarded } from '../../pursuits/guard.js';
import type { Card, CardReload } from '../card.js';
import { changeCard } from '../change.js';
import { changeOperation } from '../told.js';
import type { CardOperation } from '../operation.js';
import { expire, unwindingOf, type Expired } from './deadline.js';
import { decideFunding, type FundingFact } from './facts.js';
import { holdPosting, releasePosting, type Funding } from './postings.js';
import { reloadEnded, tryReload } from './reload.js';

export type FundItem = {
  kind: 'acceptFunding';
  tenant: string;
  /** Complete, with its id, before it queues. */
  operation: Funding;
  claim: Claim | null;
  /** What the client is told when it is accepted. */
  answer: Answer;
};
/** Names the funding; a late one's facts are those of its unwinding. */
type FundingKey = { tenant: string; id: string; card: string };
export type FundingFactItem = FundingKey & { kind: 'fundingFact'; fact: FundingFact };
/** The deadline has come. Whoever says it first. */
export type ExpireItem = FundingKey & { kind: 'expireFunding' };
export type ReloadSettings = Pick<
  CardReload,
  'enabled' | 'threshold_minor' | 'amount_minor' | 'daily_cap_minor'
>;
export type ReloadItem = {
  kind: 'setReload';
  tenant: string;
  id: string;
  settings: ReloadSettings;
};

/** The operation that the fact was about as it stands now. */
type Applied = {
  kind: 'funding';
  verdict: Guarded<CardOperation>['verdict'];
  operation: CardOperation;
};
export type FundingOutcome = Applied | { kind: 'no_such_funding' };
export type ReloadOutcome = { kind: 'reload'; card: Card } | { kind: 'refused'; error: ApiError };

const acceptFunding: Kind<FundItem, AcceptOutcome> = {
  reads: ({ tenant, operation, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    // One that is its own id can't have been taken.
    references: operation.reference === operation._id ? [] : [referenceOf(operation)],
    records: { cards: [operation.card], card_operations: complete ? [operation._id] : [] },
    wallets: [tenant],
  }),
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
};

const readsOf = ({ tenant, id, card }: FundingKey) => ({
  records: { card_operations: [id, unwindingOf(id)], cards: [card] },
  wallets: [tenant],
});

const fundingFact: Kind<FundingFactItem, FundingOutcome> = { reads: readsOf, decide: decideFact };

const expireFunding: Kind<ExpireItem, FundingOutcome> = { reads: readsOf, decide: decideExpiry };

const setReload: Kind<ReloadItem, ReloadOutcome> = {
  reads: ({ tenant, id }) => ({ records: { cards: [id] }, wallets: [tenant] }),
  decide: decideReload,
};

/** What fundings commit; see ledger/kinds.ts. */
export const fundingKinds = { acceptFunding, fundingFact, expireFunding, setReload };

const referenceOf = ({ tenant, reference }: CardOperation) =>
  ({ collection: 'card_operations', tenant, reference }) as const;

function decideAccept(view: View, item: FundItem, now: Date): AcceptOutcome {
  const { claim, operation, answer } = item;
  const earlier = earlierAnswer(view, claim, operation._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (view.record('card_operations', operation._id)) {
    return { kind: 'answered', answer, resource: operation._id, replayed: false };
  }
  const refusal = refuse(view, operation);
  if (refusal) return answerWith(view, item, refusalAnswer(refusal));
  const wallet = view.wallet(item.tenant);
  const availableMinor = wallet.availableMinor - operation.amount_minor;
  view.changeWallet({ ...wallet, availableMinor });
  view.create('card_operations', operation);
  view.takeReference(referenceOf(operation), operation._id);
  view.post(holdPosting(operation));
  return answerWith(view, item, answer, operation._id);
}

/** Why this card can't be funded so, or null. A refusal uses up no reference. */
function refuse(view: View, operation: Funding): ApiError | null {
  const card = view.record('cards', operation.card);
  if (!card || card.tenant !== operation.tenant) return new ApiError('not_found');
  const unfit = refuseCard(card, operation);
  if (unfit) return unfit;
  const first = view.reference(referenceOf(operation));
  if (first) {
    const field = 'transaction_reference';
    return new ApiError('duplicate_reference', { field, details: { id: first } });
  }
  const { availableMinor } = view.wallet(operation.tenant);
  if (availableMinor >= operation.amount_minor) return null;
  return new ApiError('insufficient_balance', {
    message: 'The wallet balance is lower than the amount.',
    details: {
      required: toWireAmount(operation.amount_minor),
      available: toWireAmount(availableMinor),
    },
  });
}

function refuseCard({ status, funding }: Card, { type }: CardOperation): ApiError | null {
  if (status !== 'active') {
    const message = `The card is ${status}, and only an active one is funded.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  if (type === 'jit_fund' || funding === 'prepaid') return null;
  const message = 'The card is funded just in time: its authorizations are held in the wallet.';
  return new ApiError('invalid_state', { message, details: { status, funding } });
}

function decideFact(view: View, item: FundingFactItem, now: Date): FundingOutcome {
  const found = load(view, item);
  if (!found) return { kind: 'no_such_funding' };
  const { operation, card } = found;
  // Nobody has said yet that its deadline has come: what is confirmed after it is late all the same.
  const late = item.fact.kind === 'paid' ? expire(operation, now) : null;
  if (late?.unwinding) return { ...bookExpiry(view, operation, late, now), verdict: 'stale' };
  const wallet = view.wallet(item.tenant);
  const { available_minor: cardMinor } = card;
  const { availableMinor, owedMinor } = wallet;
  const transition = decideFunding(operation, item.fact, now, {
    availableMinor,
    owedMinor,
    cardMinor,
  });
  const { verdict, next, postings, ...added } = transition;
  if (next === operation) return { kind: 'funding', verdict, operation };
  postings.forEach(view.post);
  if (added.availableMinor !== 0n || added.owedMinor !== 0n) {
    view.changeWallet({
      ...wallet,
      availableMinor: availableMinor + added.availableMinor,
      owedMinor: owedMinor + added.owedMinor,
    });
  }
  const reload = reloadEnded(card, operation, next, now);
  if (added.cardMinor !== 0n || reload !== card.reload) {
    changeCard(view, card, { available_minor: cardMinor + added.cardMinor, reload }, now);
  }
  const changed = changeOperation(view, operation, next);
  tellOfUnwinding(view, operation, changed);
  return { kind: 'funding', verdict, operation: changed };
}

/** Who asked for a late funding sees in its own record what its issuer said became of it. */
function tellOfUnwinding(view: View, before: CardOperation, after: CardOperation): void {
  const funding = after.unwinds && view.record('card_operations', after.unwinds);
  if (!funding) return;
  view.change('card_operations', {
    ...funding,
    version: funding.version + 1,
    updated_at: after.updated_at,
    attention: after.attention,
    timeline: [...funding.timeline, ...after.timeline.slice(before.timeline.length)],
  });
}

function decideExpiry(view: View, item: ExpireItem, now: Date): FundingOutcome {
  const found = load(view, item);
  if (!found) return { kind: 'no_such_funding' };
  const { operation } = found;
  const expired = expire(operation, now);
  return expired
    ? bookExpiry(view, operation, expired, now)
    : { kind: 'funding', verdict: 'unchanged', operation };
}

function bookExpiry(
  view: View,
  operation: CardOperation,
  { failed, unwinding }: Expired,
  now: Date,
): Applied {
  if (unwinding) view.create('card_operations', unwinding);
  else {
    const wallet = view.wallet(operation.tenant);
    const availableMinor = wallet.availableMinor + (operation.amount_minor ?? 0n);
    view.changeWallet({ ...wallet, availableMinor });
    view.post(releasePosting(operation as Funding, now));
  }
  const changed = changeOperation(view, operation, failed);
  return { kind: 'funding', verdict: 'applied', operation: changed };
}

/** The funding, or what unwinds it, with its card. */
function load(view: View, { tenant, id, card: cardId }: FundingKey) {
  const operation =
    view.record('card_operations', unwindingOf(id)) ?? view.record('card_operations', id);
  const card = view.record('cards', cardId);
  const own = operation?.tenant === tenant && operation.card === card?._id;
  return own && card ? { operation, card } : null;
}

function decideReload(view: View, { tenant, id, settings }: ReloadItem, now: Date): ReloadOutcome {
  const card = view.record('cards', id);
  if (!card || card.tenant !== tenant) return { kind: 'refused', error: new ApiError('not_found') };
  const refusal = refuseReload(card);
  if (refusal) return { kind: 'refused', error: refusal };
  const present = card.reload ?? NEVER_RELOADED;
  const short = card.available_minor < settings.threshold_minor;
  // Put again, they are tried again; what is under way and what the day has used stay as they are.
  const reload: CardReload = {
    ...present,
    ...settings,
    used: present.used && short,
    refusals: 0,
    attention: null,
  };
  const set = { reload: tryReload(view, card, reload, now) };
  return { kind: 'reload', card: changeCard(view, card, set, now) };
}

function refuseReload({ status, funding }: Card): ApiError | null {
  if (status !== 'active' && status !== 'locked') {
    const message = `The card is ${status}.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  if (funding === 'prepaid') return null;
  const message = 'The card is funded just in time: it has nothing that could be reloaded.';
  return new ApiError('invalid_state', { message, details: { status, funding } });
}

const NEVER_RELOADED = {
  used: false,
  operation: null,
  refusals: 0,
  attention: null,
  day: '',
  day_minor: 0n,
};
