import {
  refuseTakenReference,
  refuseUncovered,
  keysOf,
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type Claim,
  successResponse,
} from '../../core/commit/accept.js';
import { holdPosting } from '../../core/ledger/posting.js';
import { ApiError } from '../../shared/errors.js';
import type { Act } from '../../core/audit/entry.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { toWireAmount } from '../../shared/money.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { instructionState, isOpen, timelineEntry } from '../../core/instructions/instruction.js';
import { charges, attemptReference, leftOf, type Charge } from '../charges/record.js';
import { moveReturn } from './returns.js';
import { transitionRefund, type RefundTransition } from './transitions.js';
import { holdOf } from './postings.js';
import { withRefundEvent } from './webhook-events.js';
import { presentRefund } from './presenter.js';
import { masked, refunds, type Refund } from './record.js';

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
    keys: keysOf(claim),
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

/** An operator has named the customer's account for a refund that its provider cannot make without one. */
type NameRefundAccount = {
  tenantId: string;
  id: string;
  account: NonNullable<Refund['customer_account']>;
  act: Act;
};

/** Keeps the customer's account until the provider has it. Null: the refund has ended, or its provider does not have it. */
export const nameRefundAccount: Mutation<NameRefundAccount, { refund: Refund | null }> = {
  reads: ({ id }) => ({ records: [refunds.ref(id)] }),
  decide(uow, { tenantId, id, account }, now) {
    const refund = uow.get(refunds, id);
    if (refund?.tenant_id !== tenantId || !isOpen(refund)) return { refund: null };
    if (refund.provider_refund_id === null) return { refund: null };
    const detail = 'an operator has named the account of the customer';
    const next: Refund = {
      ...refund,
      customer_account: account,
      version: refund.version + 1,
      updated_at: now,
      timeline: [...refund.timeline, timelineEntry(now, 'operator', 'operator', { detail })],
    };
    uow.change(refunds, next);
    return { refund: next };
  },
  audited: (uow, { id }) => instructionState(uow.get(refunds, id)),
  leavesWallet: () => true,
};

/** The provider has taken or refused this account of the customer. `refused`: the reason to call an operator, or null. */
type ForgetRefundAccount = {
  tenantId: string;
  id: string;
  account: NonNullable<Refund['customer_account']>;
  refused: string | null;
};

/** Forgets the customer's account that the provider has taken or refused. One that an operator has named since stays. */
export const forgetRefundAccount: Mutation<ForgetRefundAccount, { forgotten: boolean }> = {
  reads: ({ id }) => ({ records: [refunds.ref(id)] }),
  decide(uow, { tenantId, id, account, refused }, now) {
    const refund = uow.get(refunds, id);
    const known = refund?.customer_account;
    if (refund?.tenant_id !== tenantId || refund.status !== 'processing' || !known) {
      return { forgotten: false };
    }
    if (known.number !== account.number || known.bank_code !== account.bank_code) {
      return { forgotten: false };
    }
    uow.change(refunds, {
      ...refund,
      customer_account: null,
      // The last digits go with the attention: an ended refund has none of the account.
      attention: refused === null ? null : { since: now, reason: `${refused}: ${masked(account)}` },
      version: refund.version + 1,
      updated_at: now,
    });
    return { forgotten: true };
  },
  leavesWallet: () => true,
};

/** The claim of a refund's reference. */
export const referenceOf = ({
  tenant_id: tenantId,
  reference,
}: Pick<Refund, 'tenant_id' | 'reference'>) =>
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
  countRefund(uow, chargeId, { refundingMinor: refund.amount_minor, refundedMinor: 0n }, now);
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
  const charge = uow.get(charges, refund.charge_id);
  if (!charge) throw new Error(`${refund.charge_id} has a refund and is not there`);
  const { verdict, next, postings, ...added } =
    refund.made_by === 'operator'
      ? moveReturn({ refund, charge }, input.fact, now, wallet)
      : { ...transitionRefund(refund, input.fact, now, wallet), charge };
  if (next === refund) return { kind: 'fact', verdict, refund };
  postings.forEach(uow.post);
  if (added.charge !== charge) uow.change(charges, added.charge);
  if (added.availableMinor !== 0n || added.receivableMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + added.availableMinor,
      receivableMinor: wallet.receivableMinor + added.receivableMinor,
    });
  }
  if (added.refundingMinor !== 0n || added.refundedMinor !== 0n) {
    countRefund(uow, refund.charge_id, added, now);
  }
  return { kind: 'fact', verdict, refund: changeRefund(uow, refund, next) };
}

/** Changes a refund, and emits the event of its end. */
export function changeRefund(uow: UnitOfWork, before: Refund, after: Refund): Refund {
  // The account was for the provider alone.
  const ended =
    isOpen(after) || !after.customer_account ? after : { ...after, customer_account: null };
  const { next, event } = withRefundEvent(before, ended);
  uow.change(refunds, next);
  uow.emit(event);
  return next;
}

/** Changes the counts of a charge in the commit of its refund. */
export function countRefund(
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
