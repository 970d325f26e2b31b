import { acceptOnce } from '../../core/commit/accept.js';
import { paymentTokens } from '../payment-tokens/payment-token.js';
import { ApiError } from '../../shared/errors.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  refusalResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import { charges, type Charge } from '../charges/charge.js';
import { changeCharge } from '../charges/mutations.js';
import { transitionCharge } from '../charges/transitions.js';
import {
  cancel,
  markCharged,
  pause,
  resume,
  type Change,
  type Step,
  afterChargeChange,
  statusOfCharge,
} from './transitions.js';
import {
  recurringCharges,
  isDue,
  isOver,
  openCharges,
  type RecurringCharge,
} from './recurring-charge.js';
import { presentRecurringCharge } from './presenter.js';

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
  /** For a cancellation: its charges that were on their way when it was read. None of them is tried again. */
  charges: string[];
  claim: Claim | null;
  /** The response for the changed record. */
  answer: (recurring: RecurringCharge) => SavedResponse;
};

/** `overtaken`: it has a charge by now that is not among those. Nothing has changed, and it has to be read again. */
export type ChangeRecurringChargeResult = AcceptResult | { kind: 'overtaken' };

/** The charge of the next period. */
export type RenewRecurringCharge = {
  tenantId: string;
  id: string;
  /** Of the period that was next when it was looked at. */
  charge: Charge;
  at: Date;
};

/** Null if that period is not due: another process was faster, or the recurring charge has changed. */
export type RenewRecurringChargeResult = { charge: Charge | null };

/** Accepts a recurring charge once. */
export const acceptRecurringCharge: Mutation<AcceptRecurringCharge, AcceptResult> = {
  reads: ({ recurring, claim }, full) => ({
    keys: claim ? [claim.id] : [],
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
    keys: claim ? [claim.id] : [],
    records: [recurringCharges.ref(id), ...pending.map((one) => charges.ref(one))],
  }),
  decide: decideChange,
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

function decideAccept(uow: UnitOfWork, item: AcceptRecurringCharge, now: Date): AcceptResult {
  const { recurring, answer, id, tenantId } = item;
  return acceptOnce(uow, item, now, {
    collection: recurringCharges,
    id,
    response: () => answer,
    admit() {
      const field = 'payment_token_id';
      const token = uow.get(paymentTokens, recurring.payment_token_id);
      if (token?.tenant_id !== tenantId) {
        return new ApiError('not_found', { field, message: 'There is no such payment token.' });
      }
      const { status } = token;
      if (status !== 'active') {
        const message = `The payment token is ${status}.`;
        return new ApiError('invalid_state', { field, message, details: { status } });
      }
      uow.create(recurringCharges, recurring);
      return recurring;
    },
  });
}

function decideChange(
  uow: UnitOfWork,
  item: ChangeRecurringCharge,
  now: Date,
): ChangeRecurringChargeResult {
  const earlier = findSavedResponse(uow, item.claim, null, now);
  if (earlier) return earlier;
  const recurring = ownOf(uow, item);
  if (!recurring) return saveResponse(uow, item, refusalResponse(new ApiError('not_found')));
  const step = changed(recurring, item);
  if (step instanceof ApiError) return saveResponse(uow, item, refusalResponse(step));
  if (step) {
    const pending = item.change === 'cancel' ? openCharges(recurring) : [];
    if (pending.some((charge) => !item.charges.includes(charge))) return { kind: 'overtaken' };
    applyStep(uow, step);
    for (const charge of pending) tryNoMore(uow, item, uow.get(charges, charge));
  }
  return saveResponse(uow, item, item.answer(ownOf(uow, item) ?? recurring));
}

/** The change; null where it is so already. */
function changed(
  recurring: RecurringCharge,
  { change, at }: ChangeRecurringCharge,
): Step | ApiError | null {
  const { status } = recurring;
  if (status === SO_ALREADY[change]) return null;
  if (isOver(recurring)) {
    const message = `The recurring charge is ${status}.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  return { pause, resume, cancel }[change](recurring, at);
}

const SO_ALREADY = { pause: 'paused', resume: 'active', cancel: 'cancelled' } as const;

/** Ends a charge that waits for another attempt. A submitted attempt runs to its end, and gets no further one. */
function tryNoMore(
  uow: UnitOfWork,
  { tenantId, at }: ChangeRecurringCharge,
  charge: Charge | undefined,
): void {
  if (charge?.tenant_id !== tenantId || !isOpen(charge)) return;
  const last: Charge = { ...charge, dunning_days: [] };
  const fact = {
    kind: 'rejected',
    code: 'recurring_cancelled',
    decline: 'hard',
    attempt: null,
    via: 'operator',
    actor: 'bursar',
    providerRequestId: null,
    note: 'its recurring charge was cancelled',
  } as const;
  if (charge.first_declined_at !== null && charge.submissions === 0) {
    const { next } = transitionCharge(last, fact, at, uow.wallet(tenantId));
    changeCharge(uow, charge, next);
    return;
  }
  const detail = `${fact.note}: not tried again`;
  const timeline = [...charge.timeline, timelineEntry(at, 'note', 'bursar', { detail })];
  uow.change(charges, { ...last, timeline, version: charge.version + 1, updated_at: at });
}

/** One period, once: its charge is written in the commit that makes the next period the one that is due. */
function decideRenew(uow: UnitOfWork, item: RenewRecurringCharge): RenewRecurringChargeResult {
  const { charge, at } = item;
  // My own earlier commit, whose result never reached me.
  const own = uow.get(charges, charge._id);
  if (own) return { charge: own };
  const recurring = ownOf(uow, item);
  if (!recurring || !isDue(recurring, at) || recurring.next_period !== charge.recurring?.period) {
    return { charge: null };
  }
  const { tenant_id: tenantId, reference } = charge;
  // A tenant may have used that very name: then this one goes without.
  const taken = uow.reference({ collection: charges, tenantId, reference });
  const named = taken === undefined ? charge : { ...charge, reference: charge._id };
  // Also with a token that can't be charged any more: no period is passed by in silence, its charge fails.
  uow.create(charges, named);
  uow.takeReference({ collection: charges, tenantId, reference: named.reference }, named._id);
  applyStep(uow, markCharged(recurring, named, at));
  return { charge: named };
}

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
function applyStep(uow: UnitOfWork, { next, events }: Step): RecurringCharge {
  const before = next.event_sequence;
  const counted = events.length === 0 ? next : { ...next, event_sequence: before + events.length };
  uow.change(recurringCharges, counted);
  const { tenant_id: tenantId, _id: resource, updated_at: at } = counted;
  for (const [i, name] of events.entries()) {
    const data = presentRecurringCharge(counted);
    const sequence = before + i + 1;
    uow.emit({ tenantId, resource, sequence, at, name: `recurring_charge.${name}`, data });
  }
  return counted;
}
