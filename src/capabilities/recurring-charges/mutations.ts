import { withRecurringChargeEvents } from './webhook-events.js';
import {
  acceptOnce,
  keysOf,
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import { paymentTokens } from '../payment-tokens/record.js';
import { ApiError } from '../../shared/errors.js';
import type { Act } from '../../core/audit/entry.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { charges, type Charge } from '../charges/record.js';
import { stopRetries } from '../charges/mutations.js';
import {
  cancel,
  changeTerms,
  loseToken,
  markCharged,
  pause,
  resume,
  type Change,
  type Step,
  type Terms,
  afterChargeChange,
  statusOfCharge,
} from './transitions.js';
import { recurringCharges, isDue, isOver, openCharges, type RecurringCharge } from './record.js';

/** A new recurring charge with its idempotency key. */
export type AcceptRecurringCharge = {
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  recurring: RecurringCharge;
  claim: Claim | null;
  /** The response if it is accepted. */
  answer: SavedResponse;
};

/** A pause, a resumption or a cancellation. */
export type ChangeRecurringCharge = {
  tenantId: string;
  id: string;
  change: Change;
  at: Date;
  /** An operator asks for it. */
  act?: Act;
  /** For a cancellation: the open charges when the record was read. None of them is retried. */
  charges: string[];
  claim: Claim | null;
  /** The response for the changed record. */
  answer: (recurring: RecurringCharge) => SavedResponse;
};

/**
 * `overtaken`: the record has an open charge that the request does not name. Nothing has changed; the caller reads the
 * record again.
 */
export type ChangeRecurringChargeResult = AcceptResult | { kind: 'overtaken' };

/** The charge of the next period. */
type RenewRecurringCharge = {
  tenantId: string;
  id: string;
  /** The charge of the period that was next when the record was read. */
  charge: Charge;
  at: Date;
};

/** Null if the period is not due: another process has charged it, or the recurring charge has changed. */
type RenewRecurringChargeResult = { charge: Charge | null };

/** Accepts a recurring charge once. */
export const acceptRecurringCharge: Mutation<AcceptRecurringCharge, AcceptResult> = {
  reads: ({ recurring, claim }, full) => ({
    keys: keysOf(claim),
    records: [
      paymentTokens.ref(recurring.payment_token_id),
      ...(full ? [recurringCharges.ref(recurring._id)] : []),
    ],
  }),
  decide: decideAccept,
  leavesWallet: () => true,
};

/** Changes a recurring charge once per idempotency key. */
export const changeRecurringCharge: Mutation<ChangeRecurringCharge, ChangeRecurringChargeResult> = {
  reads: ({ id, charges: pending, claim }) => ({
    keys: keysOf(claim),
    records: [recurringCharges.ref(id), ...pending.map((one) => charges.ref(one))],
  }),
  decide: decideChange,
  audited(uow, { id }) {
    const recurring = uow.get(recurringCharges, id);
    return recurring ? { status: recurring.status } : null;
  },
  leavesWallet: () => true,
};

/** Creates the charge of the period that is due, once per period. */
export const renewRecurringCharge: Mutation<RenewRecurringCharge, RenewRecurringChargeResult> = {
  reads: ({ tenantId, id, charge: { _id: charge, reference } }, full) => ({
    references: [{ collection: charges, tenantId, reference }],
    records: [recurringCharges.ref(id), ...(full ? [charges.ref(charge)] : [])],
  }),
  decide: decideRenew,
  leavesWallet: () => true,
};

/** A change of the token, the amount or the end. */
export type UpdateRecurringCharge = {
  tenantId: string;
  id: string;
  terms: Terms;
  at: Date;
  claim: Claim | null;
  /** The response for the changed record. */
  answer: (recurring: RecurringCharge) => SavedResponse;
};

/** Changes the terms of a recurring charge once per idempotency key. */
export const updateRecurringCharge: Mutation<UpdateRecurringCharge, AcceptResult> = {
  reads: ({ id, terms: { payment_token_id: token }, claim }) => ({
    keys: keysOf(claim),
    records: [recurringCharges.ref(id), ...(token === undefined ? [] : [paymentTokens.ref(token)])],
  }),
  decide(uow, input, now) {
    const earlier = findSavedResponse(uow, input.claim, null, now);
    if (earlier) return earlier;
    const recurring = ownOf(uow, input);
    const refusal = recurring ? refuseTerms(uow, recurring, input) : new ApiError('not_found');
    if (!recurring || refusal) {
      return saveResponse(uow, input, refusalResponse(refusal ?? new ApiError('not_found')));
    }
    const next = applyStep(uow, changeTerms(recurring, input.terms, input.at));
    return saveResponse(uow, input, input.answer(next));
  },
  leavesWallet: () => true,
};

/** Returns the refusal of a change, or null. */
function refuseTerms(
  uow: UnitOfWork,
  recurring: RecurringCharge,
  { terms: { payment_token_id: token } }: UpdateRecurringCharge,
): ApiError | null {
  if (isOver(recurring)) return overError(recurring);
  if (token === undefined) return null;
  const { tenant_id: tenantId, customer_id: customer } = recurring;
  return takeToken(uow, { tenantId, token, customer });
}

/** The deletion of the payment token of a recurring charge. */
type LoseRecurringToken = { tenantId: string; id: string; token: string };

/** Makes a recurring charge past due whose payment token was deleted. `changed`: false if it is so already, or is over. */
export const loseRecurringToken: Mutation<LoseRecurringToken, { changed: boolean }> = {
  reads: ({ id }) => ({ records: [recurringCharges.ref(id)] }),
  decide(uow, input, now) {
    const recurring = ownOf(uow, input);
    const isOn = recurring?.payment_token_id === input.token && !recurring.token_revoked;
    if (!recurring || !isOn || isOver(recurring)) return { changed: false };
    applyStep(uow, loseToken(recurring, now));
    return { changed: true };
  },
  leavesWallet: () => true,
};

function decideAccept(uow: UnitOfWork, input: AcceptRecurringCharge, now: Date): AcceptResult {
  const { recurring, answer, id, tenantId } = input;
  return acceptOnce(uow, input, now, {
    collection: recurringCharges,
    id,
    response: () => answer,
    admit() {
      const { payment_token_id: token, customer_id: customer } = recurring;
      const refusal = takeToken(uow, { tenantId, token, customer });
      if (refusal) return refusal;
      uow.create(recurringCharges, recurring);
      return recurring;
    },
  });
}

/**
 * Returns the refusal of a token that cannot be charged, or null. The token is written too, so that its deletion at the same
 * moment conflicts: either it is refused here, or the deletion finds the recurring charge.
 */
function takeToken(
  uow: UnitOfWork,
  { tenantId, token: id, customer }: { tenantId: string; token: string; customer: string },
): ApiError | null {
  const field = 'payment_token_id';
  const token = uow.get(paymentTokens, id);
  if (token?.tenant_id !== tenantId) {
    return new ApiError('not_found', { field, message: 'There is no such payment token.' });
  }
  if (token.customer.id !== customer) {
    const message = 'The payment token is another customer’s.';
    return new ApiError('invalid_state', { field, message });
  }
  const { status } = token;
  if (status === 'active') {
    uow.change(paymentTokens, { ...token, version: token.version + 1 });
    return null;
  }
  const message = `The payment token is ${status}.`;
  return new ApiError('invalid_state', { field, message, details: { status } });
}

function overError({ status }: RecurringCharge): ApiError {
  const message = `The recurring charge is ${status}.`;
  return new ApiError('invalid_state', { message, details: { status } });
}

function decideChange(
  uow: UnitOfWork,
  input: ChangeRecurringCharge,
  now: Date,
): ChangeRecurringChargeResult {
  const earlier = findSavedResponse(uow, input.claim, null, now);
  if (earlier) return earlier;
  const recurring = ownOf(uow, input);
  if (!recurring) return saveResponse(uow, input, refusalResponse(new ApiError('not_found')));
  const step = changed(recurring, input);
  if (step instanceof ApiError) return saveResponse(uow, input, refusalResponse(step));
  if (step) {
    const pending = input.change === 'cancel' ? openCharges(recurring) : [];
    if (pending.some((charge) => !input.charges.includes(charge))) return { kind: 'overtaken' };
    applyStep(uow, step);
    const reason = {
      code: 'recurring_cancelled',
      note: 'its recurring charge was cancelled',
      at: input.at,
    };
    for (const id of pending) {
      const charge = uow.get(charges, id);
      if (charge?.tenant_id === input.tenantId) stopRetries(uow, charge, reason);
    }
  }
  return saveResponse(uow, input, input.answer(ownOf(uow, input) ?? recurring), input.id);
}

/** Returns the change, or null if the recurring charge already has that status. */
function changed(
  recurring: RecurringCharge,
  { change, at }: ChangeRecurringCharge,
): Step | ApiError | null {
  const { status } = recurring;
  if (status === SO_ALREADY[change]) return null;
  if (isOver(recurring)) return overError(recurring);
  return { pause, resume, cancel }[change](recurring, at);
}

const SO_ALREADY = { pause: 'paused', resume: 'active', cancel: 'cancelled' } as const;

/** Charges one period once: the commit that creates its charge also moves the record to the next period. */
function decideRenew(uow: UnitOfWork, input: RenewRecurringCharge): RenewRecurringChargeResult {
  const { charge, at } = input;
  // An earlier commit of this mutation, whose result was lost.
  const own = uow.get(charges, charge._id);
  if (own) return { charge: own };
  const recurring = ownOf(uow, input);
  if (!recurring || !isDue(recurring, at) || !isOfTerms(charge, recurring)) return { charge: null };
  const { tenant_id: tenantId, reference } = charge;
  // The tenant may have used this reference itself. The charge then has its id as reference.
  const taken = uow.reference({ collection: charges, tenantId, reference });
  const named = taken === undefined ? charge : { ...charge, reference: charge._id };
  // The charge is created even if its token is revoked. It then fails, so that no period is skipped unnoticed.
  uow.create(charges, named);
  uow.takeReference({ collection: charges, tenantId, reference: named.reference }, named._id);
  applyStep(uow, markCharged(recurring, named, at));
  return { charge: named };
}

/** True for a charge of the next period by the present terms: its record may have changed since it was read. */
const isOfTerms = (charge: Charge, recurring: RecurringCharge): boolean =>
  charge.recurring?.period === recurring.next_period &&
  charge.amount_minor === recurring.amount_minor &&
  charge.payment_token_id === recurring.payment_token_id;

const ownOf = (uow: UnitOfWork, { tenantId, id }: { tenantId: string; id: string }) => {
  const recurring = uow.get(recurringCharges, id);
  return recurring?.tenant_id === tenantId ? recurring : undefined;
};

/** Applies the change of a charge to its recurring charge, in the same commit. The mutation must have read both. */
export function onChargeChanged(uow: UnitOfWork, before: Charge, after: Charge): void {
  if (after.recurring === null || statusOfCharge(before) === statusOfCharge(after)) return;
  const recurring = uow.get(recurringCharges, after.recurring.id);
  if (recurring?.tenant_id === after.tenant_id) {
    applyStep(uow, afterChargeChange(recurring, after, after.updated_at));
  }
}

/** Writes a change and emits its events. Returns the recurring charge with them counted. */
function applyStep(uow: UnitOfWork, step: Step): RecurringCharge {
  const { next, events } = withRecurringChargeEvents(step);
  uow.change(recurringCharges, next);
  events.forEach(uow.emit);
  return next;
}
