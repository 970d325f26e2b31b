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
import { countEvent } from '../../pursuits/events.js';
import type { PursuitFact } from '../../pursuits/facts.js';
import { isOpen } from '../../pursuits/record.js';
import { attemptReference, type Charge } from '../charges/charge.js';
import { applyRefundFact, type RefundTransition } from './facts.js';
import { holdPosting } from './postings.js';
import { presentRefund } from './presenter.js';
import type { Refund } from './refund.js';

export type AcceptRefundItem = {
  kind: 'acceptRefund';
  tenant: string;
  id: string;
  /** Complete but for its amount. */
  refund: Omit<Refund, 'amount_minor'>;
  /** Null: all that is left when it is accepted. */
  amountMinor: bigint | null;
  claim: Claim | null;
};

/** What of a refund says which other records its facts change. */
export type RefundKey = Pick<Refund, '_id' | 'tenant' | 'charge'>;

export type RefundFactItem = {
  kind: 'refundFact';
  tenant: string;
  id: string;
  charge: string;
  fact: PursuitFact;
};

/** `made`: the refund, where this very request has made it. */
export type AcceptRefundOutcome = AcceptOutcome & { made?: Refund };
export type RefundFactOutcome =
  | { kind: 'fact'; verdict: RefundTransition['verdict']; refund: Refund }
  | { kind: 'no_such_refund' };

const acceptRefund: Kind<AcceptRefundItem, AcceptRefundOutcome> = {
  reads: ({ tenant, refund, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    // One that is its own id can't have been taken.
    references: refund.reference === refund._id ? [] : [referenceOf(refund)],
    records: { charges: [refund.charge], refunds: complete ? [refund._id] : [] },
    wallets: [tenant],
  }),
  decide: decideAccept,
  weigh: () => 4_000,
};

const refundFact: Kind<RefundFactItem, RefundFactOutcome> = {
  reads: ({ tenant, id, charge }) => ({
    records: { refunds: [id], charges: [charge] },
    wallets: [tenant],
  }),
  decide: decideFact,
};

/** What refunds commit; see ledger/kinds.ts. */
export const refundKinds = { acceptRefund, refundFact };

const referenceOf = ({ tenant, reference }: Pick<Refund, 'tenant' | 'reference'>) =>
  ({ collection: 'refunds', tenant, reference }) as const;

/** What a refund is answered with when it is accepted. */
const acceptedAnswer = (refund: Refund): Answer => ({
  status: 201,
  body: JSON.stringify({ success: true, data: presentRefund(refund) }),
});

function decideAccept(view: View, item: AcceptRefundItem, now: Date): AcceptRefundOutcome {
  const { claim, amountMinor } = item;
  const { _id: id, charge: chargeId } = item.refund;
  const own = view.record('refunds', id);
  const earlier = earlierAnswer(view, claim, id, now);
  if (earlier) return { ...earlier, ...(own && { made: own }) };
  if (own) {
    // My own earlier commit, whose result never reached me.
    const answer = acceptedAnswer({ ...item.refund, amount_minor: own.amount_minor });
    return { kind: 'answered', answer, resource: id, replayed: false, made: own };
  }
  const charge = view.record('charges', chargeId);
  const leftMinor = charge ? leftOf(charge) : 0n;
  const refund: Refund = {
    ...item.refund,
    amount_minor: amountMinor ?? leftMinor,
    ...(charge && { paid_as: attemptReference(charge) }),
  };
  const refusal = refuse(view, refund, charge);
  if (refusal) return answerWith(view, item, refusalAnswer(refusal));
  const wallet = view.wallet(item.tenant);
  view.changeWallet({ ...wallet, availableMinor: wallet.availableMinor - refund.amount_minor });
  view.create('refunds', refund);
  view.takeReference(referenceOf(refund), id);
  view.post(holdPosting(refund));
  changeCharge(view, chargeId, { refundingMinor: refund.amount_minor, refundedMinor: 0n }, now);
  return { ...answerWith(view, item, acceptedAnswer(refund), id), made: refund };
}

/** What of a charge nobody has asked back yet. Below zero after a refund that came too late, never by what we accept. */
function leftOf({ amount_minor, refunded_minor, refunding_minor }: Charge): bigint {
  const left = amount_minor - refunded_minor - refunding_minor;
  return left > 0n ? left : 0n;
}

/** Why it can't be taken on, or null. A refusal uses up no reference. */
function refuse(view: View, refund: Refund, charge: Charge | undefined): ApiError | null {
  const field = 'charge_reference';
  if (charge?.tenant !== refund.tenant) {
    return new ApiError('not_found', { field, message: 'There is no such charge.' });
  }
  const first = view.reference(referenceOf(refund));
  if (first) {
    return new ApiError('duplicate_reference', { field: 'reference', details: { id: first } });
  }
  const { status } = charge;
  if (status !== 'completed') {
    const message = `The charge is ${status}, and only a completed one is refunded.`;
    return new ApiError('invalid_state', { field, message, details: { status } });
  }
  const leftMinor = leftOf(charge);
  if (refund.amount_minor > leftMinor || leftMinor === 0n) {
    return new ApiError('invalid_state', {
      field: leftMinor === 0n ? field : 'amount_minor',
      message:
        leftMinor === 0n
          ? 'Nothing of the charge is left to refund.'
          : 'The amount is more than what is left of the charge to refund.',
      details: { status, refundable_minor: toWireAmount(leftMinor) },
    });
  }
  const { availableMinor } = view.wallet(refund.tenant);
  if (availableMinor >= refund.amount_minor) return null;
  return new ApiError('insufficient_balance', {
    message: 'The wallet balance is lower than the amount.',
    details: {
      required: toWireAmount(refund.amount_minor),
      available: toWireAmount(availableMinor),
    },
  });
}

function decideFact(view: View, item: RefundFactItem, now: Date): RefundFactOutcome {
  const refund = view.record('refunds', item.id);
  if (!refund || refund.tenant !== item.tenant || refund.charge !== item.charge) {
    return { kind: 'no_such_refund' };
  }
  const wallet = view.wallet(item.tenant);
  const { verdict, next, postings, ...added } = applyRefundFact(refund, item.fact, now, wallet);
  if (next === refund) return { kind: 'fact', verdict, refund };
  postings.forEach(view.post);
  if (added.availableMinor !== 0n || added.owedMinor !== 0n) {
    view.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + added.availableMinor,
      owedMinor: wallet.owedMinor + added.owedMinor,
    });
  }
  if (added.refundingMinor !== 0n || added.refundedMinor !== 0n) {
    changeCharge(view, refund.charge, added, now);
  }
  return { kind: 'fact', verdict, refund: changeRefund(view, refund, next) };
}

/** Changes a refund, and tells of its end. */
function changeRefund(view: View, before: Refund, after: Refund): Refund {
  if (isOpen(after)) {
    view.change('refunds', after);
    return after;
  }
  const { next, event } = countEvent(before, after, (_, is) => ({
    name: `refund.${is.status}`,
    data: presentRefund(is),
  }));
  view.change('refunds', next);
  view.tell(event);
  return next;
}

/** What a charge counts is written with the refund that it counts. */
function changeCharge(
  view: View,
  id: string,
  { refundingMinor, refundedMinor }: Pick<RefundTransition, 'refundingMinor' | 'refundedMinor'>,
  now: Date,
): void {
  const charge = view.record('charges', id);
  if (!charge) throw new Error(`${id} has a refund and is not there`);
  view.change('charges', {
    ...charge,
    refunding_minor: charge.refunding_minor + refundingMinor,
    refunded_minor: charge.refunded_minor + refundedMinor,
    version: charge.version + 1,
    updated_at: now,
  });
}
