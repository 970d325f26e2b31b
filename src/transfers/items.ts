import { ApiError } from '../errors.js';
import type { Kind } from '../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  refusalAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
  type Reads,
  type View,
} from '../ledger/view.js';
import { giveBack, usedOn, type Wallet } from '../ledger/wallet.js';
import { toWireAmount } from '../money.js';
import { permit, type PermissionRequest } from '../pursuits/permission.js';
import { refuseItems, type TransferBatch } from './batch.js';
import { countChange } from './counts.js';
import { withEvent } from './events.js';
import { applyFact, type TransferFact, type Transition } from './facts.js';
import { holdPosting } from './postings.js';
import type { Transfer } from './transfer.js';

export type AcceptItem = {
  kind: 'acceptTransfer';
  tenant: string;
  /** Complete, with its id, before it queues. */
  transfer: Transfer;
  dailyLimitMinor: bigint;
  claim: Claim | null;
  /** What the client is told when it is accepted. */
  answer: Answer;
};
/** Transfers that came together: decided one by one, in order, and committed together. */
export type BulkItem = {
  kind: 'acceptBatch';
  tenant: string;
  /** As it is if nothing is refused here. */
  batch: TransferBatch;
  /** Those of the batch that are to be accepted, in its order. */
  transfers: Transfer[];
  dailyLimitMinor: bigint;
  claim: Claim | null;
  /** What the client is told of the batch as it was decided. */
  answer: (batch: TransferBatch) => Answer;
};
export type FactItem = { kind: 'transferFact'; tenant: string; id: string; fact: TransferFact };
/** The permission to let an order out, where the change that it makes is told to somebody. */
export type PermitItem = {
  kind: 'permitTransfer';
  tenant: string;
  id: string;
  request: PermissionRequest;
};

export type FactOutcome =
  | { kind: 'fact'; verdict: Transition['verdict']; transfer: Transfer }
  | { kind: 'no_such_transfer' };
/** Null for who does not get the permission. */
export type PermitOutcome = { kind: 'permit'; transfer: Transfer | null };

const acceptTransfer: Kind<AcceptItem, AcceptOutcome> = {
  // A first try takes key and reference unread, two round trips less; and nobody else can have made this transfer before.
  reads: ({ tenant, transfer, claim }, complete) =>
    complete
      ? { ...readsOf(tenant, [transfer], claim), records: { transfers: [transfer._id] } }
      : { wallets: [tenant] },
  decide: decideAccept,
  weigh: ({ answer }) => 2_000 + 2 * answer.body.length,
};

const acceptBatch: Kind<BulkItem, AcceptOutcome> = {
  reads: ({ tenant, batch, transfers, claim }, complete) => ({
    ...readsOf(tenant, transfers, claim),
    records: { transfer_batches: complete ? [batch._id] : [] },
  }),
  decide: decideBulk,
  // So much that it goes alone.
  weigh: ({ batch }) => 3_000 * batch.items.length,
  long: true,
};

const transferFact: Kind<FactItem, FactOutcome> = {
  reads: (item) => ({
    records: { transfers: [item.id] },
    wallets: isPaid(item) ? [] : [item.tenant],
  }),
  decide: decideFact,
  leavesWallet: isPaid,
};

const permitTransfer: Kind<PermitItem, PermitOutcome> = {
  reads: ({ id }) => ({ records: { transfers: [id] } }),
  decide: decidePermit,
  leavesWallet: () => true,
};

/** What transfers commit; see kinds.ts. */
export const transferKinds = { acceptTransfer, acceptBatch, transferFact, permitTransfer };

/** A capture moves what is held, and that is not in the wallet's document. */
function isPaid({ fact }: FactItem): boolean {
  return fact.kind === 'paid';
}

function readsOf(tenant: string, transfers: readonly Transfer[], claim: Claim | null): Reads {
  return {
    keys: claim ? [claim.id] : [],
    // One that is its own id can't have been taken.
    references: transfers.filter((t) => t.reference !== t._id).map(referenceOf),
    wallets: [tenant],
  };
}

const referenceOf = ({ tenant, reference }: Transfer) =>
  ({ collection: 'transfers', tenant, reference }) as const;

function decideAccept(view: View, item: AcceptItem, now: Date): AcceptOutcome {
  const { claim, transfer, answer } = item;
  const earlier = earlierAnswer(view, claim, transfer._id, now);
  if (earlier) return earlier;
  // My own earlier commit, whose result never reached me.
  if (view.record('transfers', transfer._id)) {
    view.mustHaveRead();
    return { kind: 'answered', answer, resource: transfer._id, replayed: false };
  }
  const refusal = admit(view, item, transfer);
  if (!refusal) return answerWith(view, item, answer, transfer._id);
  view.mustHaveRead();
  return answerWith(view, item, refusalAnswer(refusal));
}

/** Every transfer as if it had come alone, after those before it; then one answer for all, whatever they came to. */
function decideBulk(view: View, item: BulkItem, now: Date): AcceptOutcome {
  const { _id: id } = item.batch;
  const earlier = earlierAnswer(view, item.claim, id, now);
  if (earlier) return earlier;
  const own = view.record('transfer_batches', id);
  if (own) return { kind: 'answered', answer: item.answer(own), resource: id, replayed: false };

  const refused = new Map<string, ApiError>();
  for (const transfer of item.transfers) {
    const refusal = admit(view, item, transfer);
    if (refusal) refused.set(transfer._id, refusal);
  }
  const batch = refuseItems(item.batch, refused);
  view.create('transfer_batches', batch);
  return answerWith(view, item, item.answer(batch), id);
}

type Admission = { tenant: string; dailyLimitMinor: bigint };

/** Takes a transfer on: holds its total, counts its day, records it. Or says why not, and nothing has changed. */
function admit(view: View, item: Admission, transfer: Transfer): ApiError | null {
  const wallet = view.wallet(item.tenant);
  const refusal = refuse(view, item, transfer, wallet);
  if (refusal) return refusal;
  const { day, usedMinor } = usedOn(wallet, transfer.day);
  const held: Transfer = { ...transfer, day };
  view.changeWallet({
    ...wallet,
    availableMinor: wallet.availableMinor - transfer.total_minor,
    day,
    dayUsedMinor: usedMinor + transfer.amount_minor,
  });
  view.create('transfers', held);
  view.takeReference(referenceOf(held), held._id);
  view.count(countChange(null, held));
  view.post(holdPosting(held));
  return null;
}

/** Why this transfer can't be accepted, or null. A refusal uses up neither reference nor limit. */
function refuse(view: View, item: Admission, transfer: Transfer, wallet: Wallet): ApiError | null {
  const first = view.reference(referenceOf(transfer));
  if (first) {
    return new ApiError('duplicate_reference', { field: 'reference', details: { id: first } });
  }
  if (wallet.availableMinor < transfer.total_minor) {
    return new ApiError('insufficient_balance', {
      details: {
        required: toWireAmount(transfer.total_minor),
        available: toWireAmount(wallet.availableMinor),
      },
    });
  }
  const { usedMinor } = usedOn(wallet, transfer.day);
  if (usedMinor + transfer.amount_minor > item.dailyLimitMinor) {
    return new ApiError('limit_exceeded', {
      details: { limit: toWireAmount(item.dailyLimitMinor), used: toWireAmount(usedMinor) },
    });
  }
  return null;
}

function decideFact(view: View, item: FactItem, now: Date): FactOutcome {
  const transfer = view.record('transfers', item.id);
  if (!transfer || transfer.tenant !== item.tenant) return { kind: 'no_such_transfer' };
  const wallet = view.wallet(item.tenant);
  const transition = applyFact(transfer, item.fact, now, wallet);
  const changed = transition.next !== transfer;
  const next = changed ? change(view, transfer, transition.next) : transfer;
  transition.postings.forEach(view.post);
  // A capture leaves the wallet alone: settlement must not compete with acceptance for its document.
  const { availableMinor, owedMinor, dayMinor } = transition;
  if (availableMinor !== 0n || owedMinor !== 0n || dayMinor !== 0n) {
    const touched = {
      ...wallet,
      availableMinor: wallet.availableMinor + availableMinor,
      owedMinor: wallet.owedMinor + owedMinor,
    };
    view.changeWallet(giveBack(touched, transfer.day, dayMinor));
  }
  return { kind: 'fact', verdict: transition.verdict, transfer: next };
}

function decidePermit(view: View, item: PermitItem, now: Date): PermitOutcome {
  const transfer = view.record('transfers', item.id);
  const own = transfer?.tenant === item.tenant ? transfer : undefined;
  const next = own ? permit(own, item.request, now) : null;
  return { kind: 'permit', transfer: own && next ? change(view, own, next) : null };
}

/** Changes a transfer and states the event of it; answers the transfer with its event counted. */
function change(view: View, before: Transfer, after: Transfer): Transfer {
  const { next, event } = withEvent(before, after);
  view.count(countChange(before, after));
  view.change('transfers', next);
  view.tell(event);
  return next;
}
