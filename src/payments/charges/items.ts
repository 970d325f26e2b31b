import { ApiError } from '../../errors.js';
import type { Kind } from '../../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  refusalAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
  type Reads,
  type View,
} from '../../ledger/view.js';
import { isOpen } from '../../pursuits/record.js';
import { timelineEntry } from '../../pursuits/timeline.js';
import { recurringFollows } from '../recurring/follow.js';
import { bindToken, revokedToken } from '../tokens/token.js';
import type { Charge } from './charge.js';
import { withEvent } from './events.js';
import { applyChargeFact, type ChargeFact, type Transition } from './facts.js';

export type AcceptChargeItem = {
  kind: 'acceptCharge';
  tenant: string;
  id: string;
  /** Complete, with its id, before it queues. */
  charge: Charge;
  claim: Claim | null;
  /** What the client is told when it is accepted. */
  answer: Answer;
};

/** What of a charge says which other records its facts may change. */
export type ChargeKey = Pick<Charge, '_id' | 'tenant' | 'payment_token' | 'recurring'>;

export type ChargeFactItem = {
  kind: 'chargeFact';
  tenant: string;
  id: string;
  of: ChargeKey;
  fact: ChargeFact;
};
/** The provider has a page for the customer. */
export type ChargeActionItem = {
  kind: 'chargeAction';
  tenant: string;
  id: string;
  url: string;
  providerRequestId: string | null;
};

export type ChargeFactOutcome =
  { kind: 'fact'; verdict: Transition['verdict']; charge: Charge } | { kind: 'no_such_charge' };
export type ChargeActionOutcome = { kind: 'action'; charge: Charge | null };

const acceptCharge: Kind<AcceptChargeItem, AcceptOutcome> = {
  reads: ({ charge, claim }, complete) => {
    const { references, records } = chargeReads(charge);
    return {
      keys: claim ? [claim.id] : [],
      references,
      records: { ...records, charges: complete ? [charge._id] : [] },
    };
  },
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
  leavesWallet: () => true,
};

const chargeFact: Kind<ChargeFactItem, ChargeFactOutcome> = {
  reads: (item) => ({
    records: {
      charges: [item.id],
      payment_tokens: item.of.payment_token === null ? [] : [item.of.payment_token],
      recurring_charges: item.of.recurring === null ? [] : [item.of.recurring.id],
    },
    wallets: moves(item) ? [item.tenant] : [],
  }),
  decide: decideFact,
  leavesWallet: (item) => !moves(item),
};

const chargeAction: Kind<ChargeActionItem, ChargeActionOutcome> = {
  reads: ({ id }) => ({ records: { charges: [id] } }),
  decide: decideAction,
  leavesWallet: () => true,
};

/** What charges commit; see kinds.ts. */
export const chargeKinds = { acceptCharge, chargeFact, chargeAction };

/** Only a payment is credited. */
const moves = ({ fact }: ChargeFactItem): boolean => fact.kind === 'paid';

const referenceOf = ({ tenant, reference }: Charge) =>
  ({ collection: 'charges', tenant, reference }) as const;

/** What `admitCharge` has to see. */
export function chargeReads(charge: Charge) {
  return {
    // One that is its own id can't have been taken.
    references: charge.reference === charge._id ? [] : [referenceOf(charge)],
    records: { payment_tokens: charge.payment_token === null ? [] : [charge.payment_token] },
  } satisfies Reads;
}

/** Takes a charge on. Or says why not, and nothing has changed. */
function admitCharge(view: View, charge: Charge): ApiError | null {
  const refusal = refuse(view, charge);
  if (refusal) return refusal;
  view.create('charges', charge);
  view.takeReference(referenceOf(charge), charge._id);
  return null;
}

function refuse(view: View, charge: Charge): ApiError | null {
  const first = view.reference(referenceOf(charge));
  if (first) {
    return new ApiError('duplicate_reference', { field: 'reference', details: { id: first } });
  }
  if (charge.payment_token === null) return null;
  const field = 'payment_token_id';
  const token = view.record('payment_tokens', charge.payment_token);
  if (!token || token.tenant !== charge.tenant) {
    return new ApiError('not_found', { field, message: 'There is no such payment token.' });
  }
  if (token.customer.id !== charge.customer.id) {
    const message = 'The payment token is another customer’s.';
    return new ApiError('invalid_state', { field, message });
  }
  const usable = charge.capture_mode === 'merchant_initiated' ? ['active'] : ['active', 'unbound'];
  if (usable.includes(token.status)) return null;
  const message = `The payment token is ${token.status}.`;
  return new ApiError('invalid_state', { field, message, details: { status: token.status } });
}

function decideAccept(view: View, item: AcceptChargeItem, now: Date): AcceptOutcome {
  const { claim, charge, answer } = item;
  const earlier = earlierAnswer(view, claim, charge._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (view.record('charges', charge._id)) {
    return { kind: 'answered', answer, resource: charge._id, replayed: false };
  }
  const refusal = admitCharge(view, charge);
  if (refusal) return answerWith(view, item, refusalAnswer(refusal));
  return answerWith(view, item, answer, charge._id);
}

function decideFact(view: View, item: ChargeFactItem, now: Date): ChargeFactOutcome {
  const charge = own(view, item);
  if (!charge) return { kind: 'no_such_charge' };
  const wallet = view.wallet(item.tenant);
  const transition = applyChargeFact(charge, item.fact, now, wallet);
  const changed = transition.next !== charge;
  const next = changed ? changeCharge(view, charge, transition.next) : charge;
  transition.postings.forEach(view.post);
  const { availableMinor, owedMinor } = transition;
  if (availableMinor !== 0n || owedMinor !== 0n) {
    view.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      owedMinor: wallet.owedMinor + owedMinor,
    });
  }
  if (item.fact.kind === 'paid') bind(view, next, item.fact, now);
  if (item.fact.kind === 'refused') revoke(view, next, item.fact, now);
  return { kind: 'fact', verdict: transition.verdict, charge: next };
}

/** A setup charge that is completed gives its token what it can be charged with again. The first one stays. */
function bind(
  view: View,
  charge: Charge,
  { authorization }: Extract<ChargeFact, { kind: 'paid' }>,
  now: Date,
): void {
  const { status, capture_mode: mode, payment_token: id } = charge;
  if (status !== 'completed' || mode !== 'customer_action_required' || id === null) return;
  const token = view.record('payment_tokens', id);
  const bound = token?.tenant === charge.tenant ? bindToken(token, authorization, now) : null;
  if (bound) view.change('payment_tokens', bound);
}

/** What the customer or their bank took back charges nothing any more: no later charge may be asked for. */
function revoke(
  view: View,
  { tenant, capture_mode: mode, payment_token: id }: Charge,
  { code }: Extract<ChargeFact, { kind: 'refused' }>,
  now: Date,
): void {
  if (code !== 'authorization_revoked' || mode !== 'merchant_initiated' || id === null) return;
  const token = view.record('payment_tokens', id);
  if (token?.tenant !== tenant || token.status !== 'active') return;
  view.change('payment_tokens', revokedToken(token, now));
}

function decideAction(view: View, item: ChargeActionItem, now: Date): ChargeActionOutcome {
  const charge = own(view, item);
  if (!charge || !isOpen(charge) || charge.next_action?.url === item.url) {
    return { kind: 'action', charge: charge ?? null };
  }
  const told = timelineEntry(now, 'provider_answer', charge.provider, {
    detail: 'redirect: the customer’s turn',
    providerRequestId: item.providerRequestId,
  });
  const next: Charge = {
    ...charge,
    next_action: { type: 'redirect', url: item.url },
    version: charge.version + 1,
    updated_at: now,
    timeline: [...charge.timeline, told],
  };
  return { kind: 'action', charge: changeCharge(view, charge, next) };
}

const own = (view: View, { tenant, id }: { tenant: string; id: string }) => {
  const charge = view.record('charges', id);
  return charge?.tenant === tenant ? charge : undefined;
};

/** Changes a charge and states the event of it; answers the charge with its event counted. */
export function changeCharge(view: View, before: Charge, after: Charge): Charge {
  const { next, event } = withEvent(before, after);
  view.change('charges', next);
  view.tell(event);
  recurringFollows(view, before, next);
  return next;
}
