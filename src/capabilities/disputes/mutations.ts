import type { Act } from '../../core/audit/entry.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { charges, leftOf, reversibleMinorOf, type Charge } from '../charges/record.js';
import { disputes, disputeState, isInDoubt, newDispute, type Dispute } from './record.js';
import {
  acknowledgeDispute,
  decideDispute,
  findObstacle,
  openDispute,
  transitionDispute,
  type DisputeDecision,
  type DisputeFact,
  type Transition,
} from './transitions.js';
import { withDisputeEvent } from './webhook-events.js';

/** A fact about a dispute. */
type ApplyDisputeFact = {
  tenantId: string;
  /** The dispute's id, derived from the provider's. */
  id: string;
  providerDisputeId: string;
  charge: string;
  /** The disputed attempt. */
  attempt: number;
  fact: DisputeFact;
};

/** The verdict. `not_booked`: the payment that is disputed is not booked here, or not yet. */
export type ApplyDisputeFactResult = { verdict: Transition['verdict'] | 'not_booked' };

/** Applies a fact about a dispute, which it opens if it is new. Repeats and facts out of order are safe. */
export const applyDisputeFact: Mutation<ApplyDisputeFact, ApplyDisputeFactResult> = {
  reads: ({ tenantId, id, charge }) => ({
    records: [disputes.ref(id), charges.ref(charge)],
    wallets: [tenantId],
  }),
  decide: (uow, input, now) => ({ verdict: decideFact(uow, input, now) }),
};

function decideFact(
  uow: UnitOfWork,
  input: ApplyDisputeFact,
  now: Date,
): ApplyDisputeFactResult['verdict'] {
  const charge = uow.get(charges, input.charge);
  if (charge?.tenant_id !== input.tenantId) return 'not_booked';
  const known = uow.get(disputes, input.id);
  if (known) return apply(uow, { before: known, input, charge }, now);
  const isBooked = charge.status === 'completed' && charge.attempt === input.attempt;
  if (!isBooked || input.fact.amountMinor === 0n || input.fact.currency !== charge.currency) {
    return 'not_booked';
  }
  const opened = open(uow, { input, charge }, now);
  if (input.fact.state === 'open') return opened.verdict;
  const present = uow.get(charges, charge._id) ?? charge;
  const { verdict } = { verdict: apply(uow, { before: opened.next, input, charge: present }, now) };
  return opened.verdict === 'attention' ? opened.verdict : verdict;
}

/** The part of a charge that may be disputed still. */
const restOf = (charge: Charge): bigint => leftOf(charge, reversibleMinorOf(charge));

function open(
  uow: UnitOfWork,
  { input, charge }: { input: ApplyDisputeFact; charge: Charge },
  now: Date,
): { verdict: Transition['verdict']; next: Dispute } {
  const { id, fact, providerDisputeId } = input;
  const dispute = newDispute(
    charge,
    {
      _id: id,
      provider_dispute_id: providerDisputeId,
      amount_minor: fact.amountMinor,
      funds: fact.funds,
    },
    now,
  );
  const wallet = uow.wallet(input.tenantId);
  const transition = openDispute(dispute, fact, now, { wallet, leftMinor: restOf(charge) });
  const { next, event } = withDisputeEvent(null, transition.next);
  uow.create(disputes, next);
  uow.emit(event);
  book(uow, transition, charge, now);
  return { verdict: transition.verdict, next };
}

function apply(
  uow: UnitOfWork,
  { before, input, charge }: { before: Dispute; input: ApplyDisputeFact; charge: Charge },
  now: Date,
): Transition['verdict'] {
  const { fact, tenantId } = input;
  const around = { wallet: uow.wallet(tenantId), isInDoubt: isInDoubt(charge, before, fact) };
  const transition = transitionDispute(before, fact, now, around);
  if (transition.next === before) return transition.verdict;
  const { next, event } = withDisputeEvent(before, transition.next);
  uow.change(disputes, next);
  uow.emit(event);
  book(uow, transition, charge, now);
  return transition.verdict;
}

/** An act of an operator on a dispute. Without a decision it acknowledges the attention. */
type ActOnDispute = {
  tenantId: string;
  id: string;
  charge: string;
  decision: Omit<DisputeDecision, 'act'> | null;
  /** The attention that the operator has seen. Another one is not acknowledged. */
  seen: string | null;
  act: Act;
};

/** The dispute after an operator's act; null if the act is not possible, or would change nothing. */
export type ActOnDisputeResult = { dispute: Dispute | null };

/** Carries out an operator's act on a dispute: it clears the attention, or decides a dispute and moves its money. */
export const actOnDispute: Mutation<ActOnDispute, ActOnDisputeResult> = {
  reads: ({ tenantId, id, charge }) => ({
    records: [disputes.ref(id), charges.ref(charge)],
    wallets: [tenantId],
  }),
  audited: (uow, { id }) => disputeState(uow.get(disputes, id)),
  decide(uow, input, now) {
    const before = uow.get(disputes, input.id);
    const charge = uow.get(charges, input.charge);
    const isOwn = before?.tenant_id === input.tenantId && charge?._id === before.charge_id;
    if (!isOwn) return { dispute: null };
    const { act, decision, seen } = input;
    if (decision === null) {
      const acknowledged = acknowledgeDispute(before, { seen, act }, now);
      if (acknowledged) uow.change(disputes, acknowledged);
      return { dispute: acknowledged };
    }
    if (findObstacle(before, decision, reversibleMinorOf(charge)) !== null)
      return { dispute: null };
    const around = { wallet: uow.wallet(input.tenantId), leftMinor: restOf(charge) };
    const decided = decideDispute(before, { ...decision, act }, now, around);
    const { next, event } = withDisputeEvent(before, decided.next);
    uow.change(disputes, next);
    uow.emit(event);
    book(uow, decided, charge, now);
    return { dispute: next };
  },
};

/** Books the postings of a change, in the wallet and in the charge's count. */
function book(
  uow: UnitOfWork,
  transition: Omit<Transition, 'verdict'>,
  charge: Charge,
  now: Date,
): void {
  const { postings, availableMinor, receivableMinor, disputedMinor } = transition;
  postings.forEach(uow.post);
  if (availableMinor !== 0n || receivableMinor !== 0n) {
    const wallet = uow.wallet(charge.tenant_id);
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      receivableMinor: wallet.receivableMinor + receivableMinor,
    });
  }
  if (disputedMinor === 0n) return;
  uow.change(charges, {
    ...charge,
    disputed_minor: charge.disputed_minor + disputedMinor,
    version: charge.version + 1,
    updated_at: now,
  });
}
