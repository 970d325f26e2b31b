import { refuseTakenReference, refuseUncovered } from '../../core/commit/accept.js';
import { holdPosting } from '../../core/ledger/hold-postings.js';
import { ApiError } from '../../shared/errors.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type Claim,
  successResponse,
} from '../../core/commit/saved-response.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { toWireAmount } from '../../shared/money.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { instructionState } from '../../core/instructions/instruction.js';
import {
  charges,
  attemptReference,
  leftOf,
  type Charge,
  type SuspendedPayment,
} from '../charges/charge.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { transitionRefund, type RefundTransition } from './transitions.js';
import { deskRefundPosting, holdOf, returnPosting } from './postings.js';
import { withRefundEvent } from './webhook-events.js';
import { presentRefund } from './presenter.js';
import { newRefund, refunds, type Refund } from './refund.js';

/** A new refund with its idempotency key. */
export type AcceptRefund = {
  tenantId: string;
  id: string;
  /** The record without its amount. */
  refund: Omit<Refund, 'amount_minor'>;
  /** Null refunds the rest of the charge at acceptance. */
  amountMinor: bigint | null;
  claim: Claim | null;
};

/** The fields of a refund that name the records which its facts change. */
export type RefundKey = Pick<Refund, '_id' | 'tenant_id' | 'charge_id'>;

/** A fact about a refund. */
type ApplyRefundFact = {
  tenantId: string;
  id: string;
  charge: string;
  fact: InstructionFact;
};

/** `made`: the refund, if this request has created it. */
type AcceptRefundResult = AcceptResult & { made?: Refund };
/** The verdict, and the refund after the fact. */
export type ApplyRefundFactResult =
  | { kind: 'fact'; verdict: RefundTransition['verdict']; refund: Refund }
  | { kind: 'no_such_refund' };

/** Accepts a refund once: hold, record, the charge's counts and the response in one commit. */
export const acceptRefund: Mutation<AcceptRefund, AcceptRefundResult> = {
  reads: ({ tenantId, refund, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    // A reference that is the record's own id can't have been taken.
    references: refund.reference === refund._id ? [] : [referenceOf(refund)],
    records: [charges.ref(refund.charge_id), ...(full ? [refunds.ref(refund._id)] : [])],
    wallets: [tenantId],
  }),
  decide: decideAccept,
  weigh: () => 4_000,
};

/** Applies a fact about a refund. Repeats and facts out of order are safe. */
export const applyRefundFact: Mutation<ApplyRefundFact, ApplyRefundFactResult> = {
  reads: ({ tenantId, id, charge }) => ({
    records: [refunds.ref(id), charges.ref(charge)],
    wallets: [tenantId],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(refunds, id)),
};

/** A refund that somebody has made at the provider's own desk, as the provider reports it. */
type RecordDeskRefund = {
  tenantId: string;
  /** The refund's id, derived from the provider's. */
  id: string;
  charge: string;
  attempt: number;
  providerRefundId: string;
  amountMinor: bigint;
};

/** The result of `recordDeskRefund`. `unknown`: nothing is known here that it could return. */
export type RecordDeskRefundResult = 'recorded' | 'unchanged' | 'unknown';

/**
 * Records a refund that was made at the provider's desk, once: the payer's money goes to clearing. The refund of a payment in
 * suspense is taken from suspense.
 */
export const recordDeskRefund: Mutation<RecordDeskRefund, { result: RecordDeskRefundResult }> = {
  reads: ({ tenantId, id, charge }) => ({
    records: [refunds.ref(id), charges.ref(charge)],
    wallets: [tenantId],
  }),
  decide: (uow, input, now) => ({ result: decideDeskRefund(uow, input, now) }),
};

/** The result of `refuseDeskRefund`. `made`: it is recorded here, so its failure is a fact about that record. */
export type RefuseDeskRefundResult = 'refused' | 'made' | 'returned' | 'unknown';

/**
 * Notes that the provider has refused a refund of its own desk before it reported it as made. A report that it was made, which
 * arrives later, then moves no money.
 */
export const refuseDeskRefund: Mutation<
  Pick<RecordDeskRefund, 'tenantId' | 'id' | 'charge'>,
  { result: RefuseDeskRefundResult }
> = {
  reads: ({ id, charge }) => ({ records: [refunds.ref(id), charges.ref(charge)] }),
  decide: (uow, input, now) => ({ result: decideRefusedDeskRefund(uow, input, now) }),
  leavesWallet: () => true,
};

const referenceOf = ({ tenant_id: tenantId, reference }: Pick<Refund, 'tenant_id' | 'reference'>) =>
  ({ collection: refunds, tenantId, reference }) as const;

/** The response to an accepted refund. */
const acceptedAnswer = (refund: Refund) => successResponse(presentRefund(refund));

function decideAccept(uow: UnitOfWork, input: AcceptRefund, now: Date): AcceptRefundResult {
  const { claim, amountMinor } = input;
  const { _id: id, charge_id: chargeId } = input.refund;
  const own = uow.get(refunds, id);
  const earlier = findSavedResponse(uow, claim, id, now);
  if (earlier) return { ...earlier, ...(own && { made: own }) };
  if (own) {
    // An earlier commit of this mutation, whose result was lost.
    const answer = acceptedAnswer({ ...input.refund, amount_minor: own.amount_minor });
    return { kind: 'answered', answer, resource: id, replayed: false, made: own };
  }
  const charge = uow.get(charges, chargeId);
  const leftMinor = charge ? leftOf(charge) : 0n;
  const refund: Refund = {
    ...input.refund,
    amount_minor: amountMinor ?? leftMinor,
    ...(charge && {
      provider_charge_reference: attemptReference(charge),
      provider_charge_handle: charge.handle,
    }),
  };
  const refusal = refuse(uow, refund, charge);
  if (refusal) return saveResponse(uow, input, refusalResponse(refusal));
  const wallet = uow.wallet(input.tenantId);
  uow.changeWallet({ ...wallet, availableMinor: wallet.availableMinor - refund.amount_minor });
  uow.create(refunds, refund);
  uow.takeReference(referenceOf(refund), id);
  uow.post(holdPosting(holdOf(refund)));
  changeCharge(uow, chargeId, { refundingMinor: refund.amount_minor, refundedMinor: 0n }, now);
  return { ...saveResponse(uow, input, acceptedAnswer(refund), id), made: refund };
}

/** Returns the refusal, or null. A refusal does not take the reference. */
function refuse(uow: UnitOfWork, refund: Refund, charge: Charge | undefined): ApiError | null {
  const field = 'charge_reference';
  if (charge?.tenant_id !== refund.tenant_id) {
    return new ApiError('not_found', { field, message: 'There is no such charge.' });
  }
  const taken = refuseTakenReference(uow, referenceOf(refund));
  if (taken) return taken;
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
          : 'The amount is more than the rest of the charge.',
      details: { status, refundable_minor: toWireAmount(leftMinor) },
    });
  }
  const { availableMinor } = uow.wallet(refund.tenant_id);
  if (availableMinor >= refund.amount_minor) return null;
  const message = 'The wallet balance is lower than the amount.';
  return refuseUncovered(refund.amount_minor, availableMinor, message);
}

function decideFact(uow: UnitOfWork, input: ApplyRefundFact, now: Date): ApplyRefundFactResult {
  const refund = uow.get(refunds, input.id);
  if (!refund || refund.tenant_id !== input.tenantId || refund.charge_id !== input.charge) {
    return { kind: 'no_such_refund' };
  }
  const wallet = uow.wallet(input.tenantId);
  const { verdict, next, postings, ...added } = transitionRefund(refund, input.fact, now, wallet);
  if (next === refund) return { kind: 'fact', verdict, refund };
  postings.forEach(uow.post);
  if (added.availableMinor !== 0n || added.receivableMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + added.availableMinor,
      receivableMinor: wallet.receivableMinor + added.receivableMinor,
    });
  }
  if (added.refundingMinor !== 0n || added.refundedMinor !== 0n) {
    changeCharge(uow, refund.charge_id, added, now);
  }
  return { kind: 'fact', verdict, refund: changeRefund(uow, refund, next) };
}

/** Changes a refund, and emits the event of its end. */
function changeRefund(uow: UnitOfWork, before: Refund, after: Refund): Refund {
  const { next, event } = withRefundEvent(before, after);
  uow.change(refunds, next);
  uow.emit(event);
  return next;
}

/** Changes the counts of a charge in the commit of its refund. */
function changeCharge(
  uow: UnitOfWork,
  id: string,
  { refundingMinor, refundedMinor }: Pick<RefundTransition, 'refundingMinor' | 'refundedMinor'>,
  now: Date,
): void {
  const charge = uow.get(charges, id);
  if (!charge) throw new Error(`${id} has a refund and is not there`);
  uow.change(charges, {
    ...charge,
    refund_pending_minor: charge.refund_pending_minor + refundingMinor,
    refunded_minor: charge.refunded_minor + refundedMinor,
    version: charge.version + 1,
    updated_at: now,
  });
}

function decideDeskRefund(
  uow: UnitOfWork,
  input: RecordDeskRefund,
  now: Date,
): RecordDeskRefundResult {
  const charge = uow.get(charges, input.charge);
  if (charge?.tenant_id !== input.tenantId) return 'unknown';
  if (uow.get(refunds, input.id) || charge.returned_refunds.includes(input.id)) return 'unchanged';
  if (charge.refused_refunds?.includes(input.id)) return 'unchanged';
  const suspended = charge.suspended.find(({ attempt }) => attempt === input.attempt);
  if (suspended) return returnSuspended(uow, { charge, suspended, input }, now);
  if (charge.status !== 'completed' || charge.attempt !== input.attempt) return 'unknown';
  const wallet = uow.wallet(input.tenantId);
  const { availableMinor } = wallet;
  const paysMinor = availableMinor < input.amountMinor ? availableMinor : input.amountMinor;
  const owedMinor = input.amountMinor - paysMinor;
  const open = deskRefund(charge, input, owedMinor, now);
  uow.create(refunds, open);
  uow.takeReference(referenceOf(open), open._id);
  uow.post(deskRefundPosting(open, now, owedMinor));
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor - paysMinor,
    receivableMinor: wallet.receivableMinor + owedMinor,
  });
  changeCharge(uow, charge._id, { refundingMinor: 0n, refundedMinor: input.amountMinor }, now);
  changeRefund(uow, { ...open, status: 'processing' }, open);
  return 'recorded';
}

function decideRefusedDeskRefund(
  uow: UnitOfWork,
  { tenantId, id, charge: chargeId }: Pick<RecordDeskRefund, 'tenantId' | 'id' | 'charge'>,
  now: Date,
): RefuseDeskRefundResult {
  const charge = uow.get(charges, chargeId);
  if (charge?.tenant_id !== tenantId) return 'unknown';
  if (uow.get(refunds, id)) return 'made';
  if (charge.returned_refunds.includes(id)) return 'returned';
  const refused = charge.refused_refunds ?? [];
  if (refused.includes(id)) return 'refused';
  uow.change(charges, {
    ...charge,
    refused_refunds: [...refused, id],
    version: charge.version + 1,
    updated_at: now,
  });
  return 'refused';
}

/**
 * The record of a refund that the provider reports as made. It counts as submitted, so that its provider can be asked about
 * it.
 */
function deskRefund(
  charge: Charge,
  { id, amountMinor, providerRefundId }: RecordDeskRefund,
  owedMinor: bigint,
  now: Date,
): Refund {
  const short =
    'refunded at the provider, and the wallet could not cover it: the tenant owes the rest';
  const over = 'refunded at the provider beyond the amount of the charge';
  const reason = owedMinor > 0n ? short : leftOf(charge) < amountMinor ? over : null;
  const detail = 'the refund was made at the provider';
  return {
    ...newRefund(charge, { id }, now),
    amount_minor: amountMinor,
    made_by: 'provider',
    status: 'completed',
    provider_refund_id: providerRefundId,
    submissions: 1,
    first_submitted_at: now,
    acknowledged_at: now,
    completed_at: now,
    ...(reason === null && { next_check_at: null }),
    attention: reason === null ? null : { since: now, reason },
    timeline: [timelineEntry(now, 'webhook', charge.provider, { detail })],
  };
}

/** A payment in suspense that the provider has refunded: suspense → clearing. */
function returnSuspended(
  uow: UnitOfWork,
  {
    charge,
    suspended,
    input,
  }: { charge: Charge; suspended: SuspendedPayment; input: RecordDeskRefund },
  now: Date,
): RecordDeskRefundResult {
  const { id, amountMinor } = input;
  if (amountMinor > suspended.amount_minor) return 'unknown';
  const rest = suspended.amount_minor - amountMinor;
  const left = charge.suspended.flatMap((payment) => {
    if (payment !== suspended) return [payment];
    return rest > 0n ? [{ ...payment, amount_minor: rest }] : [];
  });
  uow.post(returnPosting(charge, now, { refund: id, amountMinor }));
  const detail = `${amountMinor} of attempt ${suspended.attempt} was refunded at the provider, from suspense`;
  uow.change(charges, {
    ...charge,
    suspended: left,
    returned_refunds: [...charge.returned_refunds, id],
    ...(rest === 0n && { returned_attempts: [...charge.returned_attempts, suspended.attempt] }),
    attention: left.length === 0 ? null : charge.attention,
    version: charge.version + 1,
    updated_at: now,
    timeline: [...charge.timeline, timelineEntry(now, 'suspense', charge.provider, { detail })],
  });
  return 'recorded';
}
