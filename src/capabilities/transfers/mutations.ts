import {
  acceptOnce,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { ApiError } from '../../shared/errors.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { Reads, UnitOfWork } from '../../core/commit/unit-of-work.js';
import {
  admitPayment,
  postPayment,
  readsOfPayments,
} from '../../core/outgoing-payments/outgoing-payment.js';
import { grantPermit, type SubmitPermitRequest } from '../../core/instructions/submit-permit.js';
import { transitionTransfer, type TransferFact, type Transition } from './transitions.js';
import { withTransferEvent } from './webhook-events.js';
import { transfers, type Transfer, countChange, transferMonthlyCounts } from './record.js';

/** A new transfer with its idempotency key. */
export type AcceptTransfer = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  transfer: Transfer;
  dailyLimitMinor: bigint;
  claim: Claim | null;
  /** The response if it is accepted. */
  answer: SavedResponse;
};
/** A fact about a transfer. */
type ApplyTransferFact = { tenantId: string; id: string; fact: TransferFact };
/** A permit to submit, which changes the record in a commit because webhooks report the change. */
type GrantTransferPermit = {
  tenantId: string;
  id: string;
  request: SubmitPermitRequest;
};

/** The verdict, and the transfer after the fact. */
export type ApplyTransferFactResult =
  | { kind: 'fact'; verdict: Transition['verdict']; transfer: Transfer }
  | { kind: 'no_such_transfer' };
/** Null if the permit is denied. */
type GrantTransferPermitResult = { transfer: Transfer | null };

/** Accepts a transfer once: hold, daily limit, reference, record and response in one commit. */
export const acceptTransfer: Mutation<AcceptTransfer, AcceptResult> = {
  // The first try does not read key and reference, which saves two round trips. The transfer's id is new, so no earlier
  // commit can have created it.
  reads: ({ tenantId, transfer, claim }, full) =>
    full
      ? { ...readsOfTransfers(tenantId, [transfer], claim), records: [transfers.ref(transfer._id)] }
      : { wallets: [tenantId] },
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
};

/** Applies a fact about a transfer. Repeats and facts out of order are safe. */
export const applyTransferFact: Mutation<ApplyTransferFact, ApplyTransferFactResult> = {
  reads: (input) => ({
    records: [transfers.ref(input.id)],
    wallets: isPaid(input) ? [] : [input.tenantId],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(transfers, id)),
  leavesWallet: isPaid,
};

/** Grants the permit to submit a transfer. Of concurrent requests one gets it. */
export const grantTransferPermit: Mutation<GrantTransferPermit, GrantTransferPermitResult> = {
  reads: ({ id }) => ({ records: [transfers.ref(id)] }),
  decide: decidePermit,
  leavesWallet: () => true,
};

/** A capture moves what is held, and that is not in the wallet's document. */
function isPaid({ fact }: ApplyTransferFact): boolean {
  return fact.kind === 'succeeded';
}

/** The reads of an acceptance: the idempotency key, the references and the wallet. */
export const readsOfTransfers = (
  tenantId: string,
  items: readonly Transfer[],
  claim: Claim | null,
): Reads => readsOfPayments(transfers, { tenantId, claim }, items);

function decideAccept(uow: UnitOfWork, input: AcceptTransfer, now: Date): AcceptResult {
  const { transfer, answer } = input;
  return acceptOnce(uow, input, now, {
    collection: transfers,
    id: transfer._id,
    response: () => answer,
    admit: () => admitTransfer(uow, input, transfer, now) ?? transfer,
    needsFullRead: true,
  });
}

/** Accepts a transfer: holds its total, counts its day, creates the record. Or returns a refusal, and changes nothing. */
export function admitTransfer(
  uow: UnitOfWork,
  { dailyLimitMinor }: { dailyLimitMinor: bigint },
  transfer: Transfer,
  now: Date,
): ApiError | null {
  const admitted = admitPayment(uow, transfers, { payment: transfer, dailyLimitMinor }, now);
  if (admitted instanceof ApiError) return admitted;
  uow.count(transferMonthlyCounts, countChange(null, admitted));
  return null;
}

function decideFact(uow: UnitOfWork, input: ApplyTransferFact, now: Date): ApplyTransferFactResult {
  const transfer = uow.get(transfers, input.id);
  if (!transfer || transfer.tenant_id !== input.tenantId) return { kind: 'no_such_transfer' };
  const wallet = uow.wallet(input.tenantId);
  const transition = transitionTransfer(transfer, input.fact, now, wallet);
  const changed = transition.next !== transfer;
  const next = changed ? change(uow, transfer, transition.next) : transfer;
  postPayment(uow, transfer, transition);
  return { kind: 'fact', verdict: transition.verdict, transfer: next };
}

function decidePermit(
  uow: UnitOfWork,
  input: GrantTransferPermit,
  now: Date,
): GrantTransferPermitResult {
  const transfer = uow.get(transfers, input.id);
  const own = transfer?.tenant_id === input.tenantId ? transfer : undefined;
  const next = own ? grantPermit(own, input.request, now) : null;
  return { transfer: own && next ? change(uow, own, next) : null };
}

/** Changes a transfer and emits its event. Returns the transfer with the event counted. */
function change(uow: UnitOfWork, before: Transfer, after: Transfer): Transfer {
  const { next, event } = withTransferEvent(before, after);
  uow.count(transferMonthlyCounts, countChange(before, after));
  uow.change(transfers, next);
  uow.emit(event);
  return next;
}
