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
import { isOpen } from '../../pursuits/record.js';
import { timelineEntry } from '../../pursuits/timeline.js';
import type { Charge } from '../charges/charge.js';
import { changeCharge } from '../charges/items.js';
import { applyChargeFact } from '../charges/facts.js';
import { cancelled, charged, paused, resumed, type Change, type Step } from './course.js';
import { takeStep } from './follow.js';
import { isDue, isOver, onTheirWay, type RecurringCharge } from './recurring-charge.js';

export type AcceptRecurringItem = {
  kind: 'acceptRecurring';
  tenant: string;
  id: string;
  /** Complete, with its id, before it queues. */
  recurring: RecurringCharge;
  claim: Claim | null;
  /** What the client is told when it is accepted. */
  answer: Answer;
};

export type ChangeRecurringItem = {
  kind: 'changeRecurring';
  tenant: string;
  id: string;
  change: Change;
  at: Date;
  /** For a cancellation: its charges that were on their way when it was read. None of them is tried again. */
  charges: string[];
  claim: Claim | null;
  /** What the client is told of it as it stands then. */
  answer: (recurring: RecurringCharge) => Answer;
};

/** `overtaken`: it has a charge by now that is not among those. Nothing has changed, and it has to be read again. */
export type ChangeOutcome = AcceptOutcome | { kind: 'overtaken' };

export type RenewItem = {
  kind: 'renewPeriod';
  tenant: string;
  id: string;
  /** Of the period that was next when it was looked at. */
  charge: Charge;
  at: Date;
};

/** Null where that period is not due: somebody else was faster, or the recurring charge has changed. */
export type RenewOutcome = { kind: 'renewal'; charge: Charge | null };

const acceptRecurring: Kind<AcceptRecurringItem, AcceptOutcome> = {
  reads: ({ recurring, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: {
      payment_tokens: [recurring.payment_token],
      recurring_charges: complete ? [recurring._id] : [],
    },
  }),
  decide: decideAccept,
  leavesWallet: () => true,
};

const changeRecurring: Kind<ChangeRecurringItem, ChangeOutcome> = {
  reads: ({ id, charges, claim }) => ({
    keys: claim ? [claim.id] : [],
    records: { recurring_charges: [id], charges },
  }),
  decide: decideChange,
  leavesWallet: () => true,
};

const renewPeriod: Kind<RenewItem, RenewOutcome> = {
  reads: ({ tenant, id, charge: { _id: charge, reference } }, complete) => ({
    references: [{ collection: 'charges', tenant, reference }],
    records: { recurring_charges: [id], charges: complete ? [charge] : [] },
  }),
  decide: decideRenew,
  leavesWallet: () => true,
};

/** What recurring charges commit; see kinds.ts. */
export const recurringKinds = { acceptRecurring, changeRecurring, renewPeriod };

function decideAccept(view: View, item: AcceptRecurringItem, now: Date): AcceptOutcome {
  const { claim, recurring, answer, id } = item;
  const earlier = earlierAnswer(view, claim, id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (view.record('recurring_charges', id)) {
    return { kind: 'answered', answer, resource: id, replayed: false };
  }
  const field = 'payment_token_id';
  const token = view.record('payment_tokens', recurring.payment_token);
  if (token?.tenant !== item.tenant) {
    const message = 'There is no such payment token.';
    return answerWith(view, item, refusalAnswer(new ApiError('not_found', { field, message })));
  }
  const { status } = token;
  if (status !== 'active') {
    const message = `The payment token is ${status}.`;
    const refusal = new ApiError('invalid_state', { field, message, details: { status } });
    return answerWith(view, item, refusalAnswer(refusal));
  }
  view.create('recurring_charges', recurring);
  return answerWith(view, item, answer, id);
}

function decideChange(view: View, item: ChangeRecurringItem, now: Date): ChangeOutcome {
  const earlier = earlierAnswer(view, item.claim, null, now);
  if (earlier) return earlier;
  const recurring = ownOf(view, item);
  if (!recurring) return answerWith(view, item, refusalAnswer(new ApiError('not_found')));
  const step = changed(recurring, item);
  if (step instanceof ApiError) return answerWith(view, item, refusalAnswer(step));
  if (step) {
    const charges = item.change === 'cancel' ? onTheirWay(recurring) : [];
    if (charges.some((charge) => !item.charges.includes(charge))) return { kind: 'overtaken' };
    takeStep(view, step);
    for (const charge of charges) tryNoMore(view, item, view.record('charges', charge));
  }
  return answerWith(view, item, item.answer(ownOf(view, item) ?? recurring));
}

/** The change; null where it is so already. */
function changed(
  recurring: RecurringCharge,
  { change, at }: ChangeRecurringItem,
): Step | ApiError | null {
  const { status } = recurring;
  if (status === SO_ALREADY[change]) return null;
  if (isOver(recurring)) {
    const message = `The recurring charge is ${status}.`;
    return new ApiError('invalid_state', { message, details: { status } });
  }
  return { pause: paused, resume: resumed, cancel: cancelled }[change](recurring, at);
}

const SO_ALREADY = { pause: 'paused', resume: 'active', cancel: 'cancelled' } as const;

/** A charge that waits for another attempt ends. What is with the provider already is seen to its end, without another. */
function tryNoMore(
  view: View,
  { tenant, at }: ChangeRecurringItem,
  charge: Charge | undefined,
): void {
  if (charge?.tenant !== tenant || !isOpen(charge)) return;
  const last: Charge = { ...charge, dunning_days: [] };
  const fact = {
    kind: 'refused',
    code: 'recurring_cancelled',
    decline: 'hard',
    attempt: null,
    via: 'operator',
    actor: 'bursar',
    providerRequestId: null,
    note: 'its recurring charge was cancelled',
  } as const;
  if (charge.first_declined_at !== null && charge.sends === 0) {
    const { next } = applyChargeFact(last, fact, at, view.wallet(tenant));
    changeCharge(view, charge, next);
    return;
  }
  const detail = `${fact.note}: not tried again`;
  const timeline = [...charge.timeline, timelineEntry(at, 'note', 'bursar', { detail })];
  view.change('charges', { ...last, timeline, version: charge.version + 1, updated_at: at });
}

/** One period, once: its charge is written in the commit that makes the next period the one that is due. */
function decideRenew(view: View, item: RenewItem): RenewOutcome {
  const { charge, at } = item;
  // My own earlier commit, whose result never reached me.
  const own = view.record('charges', charge._id);
  if (own) return { kind: 'renewal', charge: own };
  const recurring = ownOf(view, item);
  if (!recurring || !isDue(recurring, at) || recurring.next_period !== charge.recurring?.period) {
    return { kind: 'renewal', charge: null };
  }
  const { tenant, reference } = charge;
  // A tenant may have used that very name: then this one goes without.
  const taken = view.reference({ collection: 'charges', tenant, reference });
  const named = taken === undefined ? charge : { ...charge, reference: charge._id };
  // Also with a token that can't be charged any more: no period is passed by in silence, its charge fails.
  view.create('charges', named);
  view.takeReference({ collection: 'charges', tenant, reference: named.reference }, named._id);
  takeStep(view, charged(recurring, named, at));
  return { kind: 'renewal', charge: named };
}

const ownOf = (view: View, { tenant, id }: { tenant: string; id: string }) => {
  const recurring = view.record('recurring_charges', id);
  return recurring?.tenant === tenant ? recurring : undefined;
};
