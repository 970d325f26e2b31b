import { acceptOnce, refuseTakenReference, refuseUncovered } from '../../core/commit/accept.js';
import { holdPosting } from '../../core/ledger/hold-postings.js';
import { ApiError } from '../../shared/errors.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import type { Reads, UnitOfWork } from '../../core/commit/unit-of-work.js';
import { restoreDailyLimit, usedOn, type Wallet } from '../../core/ledger/wallet.js';
import { toWireAmount } from '../../shared/money.js';
import { grantPermit, type SubmitPermitRequest } from '../../core/instructions/submit-permit.js';
import { bulkTransfers, refuseItems, type BulkTransfer } from '../bulk-transfers/bulk-transfer.js';
import { countChange, transferMonthlyCounts } from './counts.js';
import { withEvent } from './presenter.js';
import { transitionTransfer, type TransferFact, type Transition } from './transitions.js';
import { holdOf } from './postings.js';
import { transfers, type Transfer } from './transfer.js';

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
/** Transfers that came together: decided one by one, in order, and committed together. */
export type AcceptBulkTransfer = {
  tenantId: string;
  /** As it is if nothing is refused here. */
  bulkTransfer: BulkTransfer;
  /** Those of the batch that are to be accepted, in its order. */
  transfers: Transfer[];
  dailyLimitMinor: bigint;
  claim: Claim | null;
  /** The response for the bulk transfer with its decided items. */
  answer: (bulkTransfer: BulkTransfer) => SavedResponse;
};
/** A fact about a transfer. */
export type ApplyTransferFact = { tenantId: string; id: string; fact: TransferFact };
/** A permit to submit, which changes the record in a commit because webhooks report the change. */
export type GrantTransferPermit = {
  tenantId: string;
  id: string;
  request: SubmitPermitRequest;
};

/** The verdict, and the transfer after the fact. */
export type ApplyTransferFactResult =
  | { kind: 'fact'; verdict: Transition['verdict']; transfer: Transfer }
  | { kind: 'no_such_transfer' };
/** Null for who does not get the permission. */
export type GrantTransferPermitResult = { transfer: Transfer | null };

/** Accepts a transfer once: hold, daily limit, reference, record and response in one commit. */
export const acceptTransfer: Mutation<AcceptTransfer, AcceptResult> = {
  // A first attempt does not read key and reference, which saves two round trips. The id is new, so no record can exist.
  reads: ({ tenantId, transfer, claim }, full) =>
    full
      ? { ...readsOf(tenantId, [transfer], claim), records: [transfers.ref(transfer._id)] }
      : { wallets: [tenantId] },
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
};

/** Accepts a bulk transfer with its transfers in one commit. Refused transfers do not affect the others. */
export const acceptBulkTransfer: Mutation<AcceptBulkTransfer, AcceptResult> = {
  reads: ({ tenantId, bulkTransfer, transfers: items, claim }, full) => ({
    ...readsOf(tenantId, items, claim),
    records: full ? [bulkTransfers.ref(bulkTransfer._id)] : [],
  }),
  decide: decideBulk,
  // So much that it goes alone.
  weigh: ({ bulkTransfer }) => 3_000 * bulkTransfer.items.length,
  long: true,
};

/** Applies a fact about a transfer. Repeats and facts out of order are safe. */
export const applyTransferFact: Mutation<ApplyTransferFact, ApplyTransferFactResult> = {
  reads: (item) => ({
    records: [transfers.ref(item.id)],
    wallets: isPaid(item) ? [] : [item.tenantId],
  }),
  decide: decideFact,
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

function readsOf(tenantId: string, items: readonly Transfer[], claim: Claim | null): Reads {
  return {
    keys: claim ? [claim.id] : [],
    // A reference that is the record's own id can't have been taken.
    references: items.filter((t) => t.reference !== t._id).map(referenceOf),
    wallets: [tenantId],
  };
}

const referenceOf = ({ tenant_id: tenantId, reference }: Transfer) =>
  ({ collection: transfers, tenantId, reference }) as const;

function decideAccept(uow: UnitOfWork, item: AcceptTransfer, now: Date): AcceptResult {
  const { transfer, answer } = item;
  return acceptOnce(uow, item, now, {
    collection: transfers,
    id: transfer._id,
    response: () => answer,
    admit: () => admit(uow, item, transfer) ?? transfer,
    needsFullRead: true,
  });
}

/** Decides each transfer as if it had come alone after those before it, and saves one response for all. */
function decideBulk(uow: UnitOfWork, item: AcceptBulkTransfer, now: Date): AcceptResult {
  const { _id: id } = item.bulkTransfer;
  const earlier = findSavedResponse(uow, item.claim, id, now);
  if (earlier) return earlier;
  const own = uow.get(bulkTransfers, id);
  if (own) return { kind: 'answered', answer: item.answer(own), resource: id, replayed: false };

  const refused = new Map<string, ApiError>();
  for (const transfer of item.transfers) {
    const refusal = admit(uow, item, transfer);
    if (refusal) refused.set(transfer._id, refusal);
  }
  const bulkTransfer = refuseItems(item.bulkTransfer, refused);
  uow.create(bulkTransfers, bulkTransfer);
  return saveResponse(uow, item, item.answer(bulkTransfer), id);
}

type Admission = { tenantId: string; dailyLimitMinor: bigint };

/** Accepts a transfer: holds its total, counts its day, creates the record. Or returns a refusal, and changes nothing. */
function admit(uow: UnitOfWork, item: Admission, transfer: Transfer): ApiError | null {
  const wallet = uow.wallet(item.tenantId);
  const refusal = refuse(uow, item, transfer, wallet);
  if (refusal) return refusal;
  const { day, usedMinor } = usedOn(wallet, transfer.limit_day);
  const held: Transfer = { ...transfer, limit_day: day };
  uow.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor - transfer.total_minor,
    day,
    dayUsedMinor: usedMinor + transfer.amount_minor,
  });
  uow.create(transfers, held);
  uow.takeReference(referenceOf(held), held._id);
  uow.count(transferMonthlyCounts, countChange(null, held));
  uow.post(holdPosting(holdOf(held)));
  return null;
}

/** The refusal of this transfer, or null. A refusal takes neither reference nor limit. */
function refuse(
  uow: UnitOfWork,
  item: Admission,
  transfer: Transfer,
  wallet: Wallet,
): ApiError | null {
  const taken = refuseTakenReference(uow, referenceOf(transfer));
  if (taken) return taken;
  if (wallet.availableMinor < transfer.total_minor) {
    return refuseUncovered(transfer.total_minor, wallet.availableMinor);
  }
  const { usedMinor } = usedOn(wallet, transfer.limit_day);
  if (usedMinor + transfer.amount_minor > item.dailyLimitMinor) {
    return new ApiError('limit_exceeded', {
      details: { limit: toWireAmount(item.dailyLimitMinor), used: toWireAmount(usedMinor) },
    });
  }
  return null;
}

function decideFact(uow: UnitOfWork, item: ApplyTransferFact, now: Date): ApplyTransferFactResult {
  const transfer = uow.get(transfers, item.id);
  if (!transfer || transfer.tenant_id !== item.tenantId) return { kind: 'no_such_transfer' };
  const wallet = uow.wallet(item.tenantId);
  const transition = transitionTransfer(transfer, item.fact, now, wallet);
  const changed = transition.next !== transfer;
  const next = changed ? change(uow, transfer, transition.next) : transfer;
  transition.postings.forEach(uow.post);
  // A capture does not change the wallet: it must not compete with acceptances for the wallet's document.
  const { availableMinor, owedMinor, dayMinor } = transition;
  if (availableMinor !== 0n || owedMinor !== 0n || dayMinor !== 0n) {
    const touched = {
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      owedMinor: wallet.owedMinor + owedMinor,
    };
    uow.changeWallet(restoreDailyLimit(touched, transfer.limit_day, dayMinor));
  }
  return { kind: 'fact', verdict: transition.verdict, transfer: next };
}

function decidePermit(
  uow: UnitOfWork,
  item: GrantTransferPermit,
  now: Date,
): GrantTransferPermitResult {
  const transfer = uow.get(transfers, item.id);
  const own = transfer?.tenant_id === item.tenantId ? transfer : undefined;
  const next = own ? grantPermit(own, item.request, now) : null;
  return { transfer: own && next ? change(uow, own, next) : null };
}

/** Changes a transfer and emits its event. Returns the transfer with the event counted. */
function change(uow: UnitOfWork, before: Transfer, after: Transfer): Transfer {
  const { next, event } = withEvent(before, after);
  uow.count(transferMonthlyCounts, countChange(before, after));
  uow.change(transfers, next);
  uow.emit(event);
  return next;
}
