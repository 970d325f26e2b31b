import {
  acceptOnce,
  type AcceptResult,
  type Claim,
  type SavedResponse,
} from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import {
  admitPayment,
  postPayment,
  readsOfPayments,
} from '../../core/outgoing-payments/outgoing-payment.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { grantPermit, type SubmitPermitRequest } from '../../core/instructions/submit-permit.js';
import { billPayments, type BillPayment } from './record.js';
import {
  transitionBillPayment,
  type BillPaymentFact,
  type BillPaymentTransition,
} from './transitions.js';
import { withBillPaymentEvent } from './webhook-events.js';

/** A new bill payment with its idempotency key. */
export type AcceptBillPayment = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  payment: BillPayment;
  dailyLimitMinor: bigint;
  claim: Claim | null;
  /** The response if it is accepted. */
  answer: SavedResponse;
};

/** A fact about a bill payment. Its receipt is sealed. */
type ApplyBillPaymentFact = { tenantId: string; id: string; fact: BillPaymentFact };

/** A permit to submit, which changes the record in a commit because webhooks report the change. */
type GrantBillPaymentPermit = { tenantId: string; id: string; request: SubmitPermitRequest };

/** The verdict, and the payment after the fact. */
export type ApplyBillPaymentFactResult =
  | { kind: 'fact'; verdict: BillPaymentTransition['verdict']; payment: BillPayment }
  | { kind: 'no_such_bill_payment' };

/** Accepts a bill payment once: hold, daily limit, reference, record and response in one commit. */
export const acceptBillPayment: Mutation<AcceptBillPayment, AcceptResult> = {
  reads: (input, full) => ({
    ...readsOfPayments(billPayments, input, [input.payment]),
    records: full ? [billPayments.ref(input.payment._id)] : [],
  }),
  decide: (uow, input, now) =>
    acceptOnce(uow, input, now, {
      collection: billPayments,
      id: input.payment._id,
      response: () => input.answer,
      admit: () => admitPayment(uow, billPayments, input, now),
    }),
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
};

/** Applies a fact about a bill payment. Repeats and facts out of order are safe. */
export const applyBillPaymentFact: Mutation<ApplyBillPaymentFact, ApplyBillPaymentFactResult> = {
  reads: (input) => ({
    records: [billPayments.ref(input.id)],
    wallets: isPaid(input) ? [] : [input.tenantId],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(billPayments, id)),
  leavesWallet: isPaid,
};

/** Grants the permit to submit a bill payment. Of concurrent requests one gets it. */
export const grantBillPaymentPermit: Mutation<
  GrantBillPaymentPermit,
  { payment: BillPayment | null }
> = {
  reads: ({ id }) => ({ records: [billPayments.ref(id)] }),
  decide(uow, { tenantId, id, request }, now) {
    const found = uow.get(billPayments, id);
    const own = found?.tenant_id === tenantId ? found : undefined;
    const next = own ? grantPermit(own, request, now) : null;
    return { payment: own && next ? change(uow, own, next) : null };
  },
  leavesWallet: () => true,
};

/** A capture moves what is held, and that is not in the wallet's document. */
function isPaid({ fact }: ApplyBillPaymentFact): boolean {
  return fact.kind === 'succeeded';
}

function decideFact(
  uow: UnitOfWork,
  { tenantId, id, fact }: ApplyBillPaymentFact,
  now: Date,
): ApplyBillPaymentFactResult {
  const payment = uow.get(billPayments, id);
  if (!payment || payment.tenant_id !== tenantId) return { kind: 'no_such_bill_payment' };
  const transition = transitionBillPayment(payment, fact, now, uow.wallet(tenantId));
  const changed = transition.next !== payment;
  const next = changed ? change(uow, payment, transition.next) : payment;
  postPayment(uow, payment, transition);
  return { kind: 'fact', verdict: transition.verdict, payment: next };
}

/** Changes a bill payment and emits its event. Returns the payment with the event counted. */
function change(uow: UnitOfWork, before: BillPayment, after: BillPayment): BillPayment {
  const { next, event } = withBillPaymentEvent(before, after);
  uow.change(billPayments, next);
  uow.emit(event);
  return next;
}
