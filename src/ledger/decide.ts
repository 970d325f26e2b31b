import { ApiError, errorBody } from '../errors.js';
import { toWireAmount } from '../money.js';
import { withEvent } from '../transfers/events.js';
import { applyFact, type TransferFact, type Transition } from '../transfers/facts.js';
import { refuseItems, type TransferBatch } from '../transfers/batch.js';
import { permit, type PermissionRequest } from '../transfers/permission.js';
import { countChange, sumChanges, type CountChange } from '../transfers/counts.js';
import { holdPosting } from '../transfers/postings.js';
import type { Transfer } from '../transfers/transfer.js';
import type { EventDraft } from '../webhooks/out/event.js';
import { accounts, posting, type Posting } from './posting.js';
import { emptyWallet, giveBack, usedOn, type Wallet } from './wallet.js';

/** A final answer to a request, as the bytes that a retry gets again. */
export type Answer = { status: number; body: string };

/** An idempotency key to be claimed together with what it protects. */
export type Claim = { id: string; fingerprint: string; createdAt: Date; expiresAt: Date };

/** A key that was claimed. `resource` is null where the request was refused. */
export type ClaimedKey = Claim & { tenant: string; answer: Answer; resource: string | null };

export type AcceptItem = {
  kind: 'accept';
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
  kind: 'bulk';
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
/** A refusal that was found before the commit: nothing but its key is claimed, so that a retry gets the same answer. */
export type RefusalItem = { kind: 'refusal'; tenant: string; claim: Claim; answer: Answer };
export type FactItem = { kind: 'fact'; tenant: string; id: string; fact: TransferFact };
export type CreditItem = { kind: 'credit'; tenant: string; id: string; amountMinor: bigint };
/** The permission to let an order out, where the change that it makes is told to somebody. */
export type PermitItem = {
  kind: 'permit';
  tenant: string;
  id: string;
  request: PermissionRequest;
};
export type Item = AcceptItem | BulkItem | RefusalItem | FactItem | CreditItem | PermitItem;

export type AcceptOutcome =
  | { kind: 'answered'; answer: Answer; resource: string | null; replayed: boolean }
  | { kind: 'key_reused' };
export type FactOutcome =
  | { kind: 'fact'; verdict: Transition['verdict']; transfer: Transfer }
  | { kind: 'no_such_transfer' };
export type CreditOutcome =
  { kind: 'credited'; availableMinor: bigint } | { kind: 'credit_conflict' };
/** Null for who does not get the permission. */
export type PermitOutcome = { kind: 'permit'; transfer: Transfer | null };
export type Outcome = AcceptOutcome | FactOutcome | CreditOutcome | PermitOutcome;

/** What the transaction read. Only what the items name is in it; what is missing does not exist. */
export type Snapshot = {
  keys: Map<string, ClaimedKey>;
  /** `<tenant>/<reference>` → id of the transfer that has it. */
  references: Map<string, string>;
  transfers: Map<string, Transfer>;
  /** Batches that a commit would repeat. */
  batches: Map<string, TransferBatch>;
  wallets: Map<string, Wallet>;
  /** Postings that a credit would repeat. */
  postings: Map<string, Posting>;
};

/** Everything that one transaction writes. */
export type Writes = {
  newKeys: ClaimedKey[];
  /** Keys that had expired and are used again. */
  renewedKeys: ClaimedKey[];
  newTransfers: Transfer[];
  newBatches: TransferBatch[];
  changedTransfers: Transfer[];
  postings: Posting[];
  /** Only for tenants whose wallet is written too. */
  counts: CountChange[];
  wallets: Wallet[];
  /** What the changes are to be told as; written for those tenants that listen. */
  events: EventDraft[];
};

export const referenceKey = (tenant: string, reference: string) => `${tenant}/${reference}`;

/**
 * All the rules of a commit, without a database: items see the effect of those before them, each gets its own
 * outcome, and the writes of all of them are what one transaction has to write. Leaves `snapshot` as it is.
 */
export function decide(
  snapshot: Snapshot,
  items: readonly Item[],
  now: Date,
): { writes: Writes; outcomes: Outcome[] } {
  const view = createView(snapshot);
  const outcomes = items.map((item) => {
    switch (item.kind) {
      case 'accept':
        return decideAccept(view, item, now);
      case 'bulk':
        return decideBulk(view, item, now);
      case 'refusal':
        return earlierAnswer(view, item.claim, null, now) ?? answerWith(view, item, item.answer);
      case 'fact':
        return decideFactItem(view, item, now);
      case 'credit':
        return decideCredit(view, item, now);
      case 'permit':
        return decidePermit(view, item, now);
    }
  });
  return { writes: view.writes(), outcomes };
}

type View = ReturnType<typeof createView>;

/** The snapshot with the effects of the items so far laid over it. */
function createView(snapshot: Snapshot) {
  const keys = new Map<string, ClaimedKey>();
  const references = new Map<string, string>();
  const created = new Map<string, Transfer>();
  const changed = new Map<string, Transfer>();
  const batches = new Map<string, TransferBatch>();
  const wallets = new Map<string, Wallet>();
  const postings = new Map<string, Posting>();
  const events: EventDraft[] = [];
  const counts: CountChange[] = [];
  const count = (before: Transfer | null, after: Transfer) => {
    const change = countChange(before, after);
    if (change) counts.push(change);
  };
  const transferOf = (id: string) =>
    changed.get(id) ?? created.get(id) ?? snapshot.transfers.get(id);
  return {
    key: (id: string) => keys.get(id) ?? snapshot.keys.get(id),
    claim: (key: ClaimedKey) => void keys.set(key.id, key),
    reference: (id: string) => references.get(id) ?? snapshot.references.get(id),
    transfer: transferOf,
    create(transfer: Transfer) {
      count(null, transfer);
      created.set(transfer._id, transfer);
      references.set(referenceKey(transfer.tenant, transfer.reference), transfer._id);
    },
    /** Changes a transfer and states the event of it; answers the transfer with its event counted. */
    change(before: Transfer, after: Transfer): Transfer {
      count(before, after);
      const { next, event } = withEvent(before, after);
      (created.has(next._id) ? created : changed).set(next._id, next);
      if (event) events.push(event);
      return next;
    },
    batch: (id: string) => batches.get(id) ?? snapshot.batches.get(id),
    createBatch: (batch: TransferBatch) => void batches.set(batch._id, batch),
    wallet: (tenant: string) =>
      wallets.get(tenant) ?? snapshot.wallets.get(tenant) ?? emptyWallet(tenant),
    changeWallet: (wallet: Wallet) => void wallets.set(wallet.tenant, wallet),
    posting: (id: string) => postings.get(id) ?? snapshot.postings.get(id),
    post: (entry: Posting) => void postings.set(entry.id, entry),
    writes: (): Writes => ({
      newKeys: [...keys.values()].filter((key) => !snapshot.keys.has(key.id)),
      renewedKeys: [...keys.values()].filter((key) => snapshot.keys.has(key.id)),
      newTransfers: [...created.values()],
      newBatches: [...batches.values()],
      changedTransfers: [...changed.values()],
      postings: [...postings.values()],
      counts: sumChanges(counts),
      wallets: [...wallets.values()].map((w) => ({ ...w, version: w.version + 1n })),
      events,
    }),
  };
}

/** A refusal as the answer that is given and kept. */
export const refusalAnswer = (error: ApiError): Answer => ({
  status: error.status,
  body: JSON.stringify(errorBody(error)),
});

/** What a key that is already claimed answers; null where it is free, also when it has expired. */
function earlierAnswer(
  view: View,
  claim: Claim | null,
  own: string | null,
  now: Date,
): AcceptOutcome | null {
  const earlier = claim && view.key(claim.id);
  if (!claim || !earlier || earlier.expiresAt <= now) return null;
  if (earlier.fingerprint !== claim.fingerprint) return { kind: 'key_reused' };
  const { answer, resource } = earlier;
  return { kind: 'answered', answer, resource, replayed: own === null || resource !== own };
}

/** Answers without making anything: the key, if there is one, keeps the answer. */
function answerWith(
  view: View,
  item: { tenant: string; claim: Claim | null },
  answer: Answer,
): AcceptOutcome {
  if (item.claim) view.claim({ ...item.claim, tenant: item.tenant, answer, resource: null });
  return { kind: 'answered', answer, resource: null, replayed: false };
}

function decideAccept(view: View, item: AcceptItem, now: Date): AcceptOutcome {
  const { claim, transfer } = item;
  const earlier = earlierAnswer(view, claim, transfer._id, now);
  if (earlier) return earlier;
  const accepted: AcceptOutcome = {
    kind: 'answered',
    answer: item.answer,
    resource: transfer._id,
    replayed: false,
  };
  // My own earlier commit, whose result never reached me.
  if (view.transfer(transfer._id)) return accepted;

  const refusal = admit(view, item, transfer);
  if (refusal) return answerWith(view, item, refusalAnswer(refusal));
  if (claim) {
    view.claim({ ...claim, tenant: item.tenant, answer: item.answer, resource: transfer._id });
  }
  return accepted;
}

/** Every transfer as if it had come alone, after those before it; then one answer for all, whatever they came to. */
function decideBulk(view: View, item: BulkItem, now: Date): AcceptOutcome {
  const { claim, tenant } = item;
  const { _id: id } = item.batch;
  const earlier = earlierAnswer(view, claim, id, now);
  if (earlier) return earlier;
  const own = view.batch(id);
  if (own) return { kind: 'answered', answer: item.answer(own), resource: id, replayed: false };

  const refused = new Map<string, ApiError>();
  for (const transfer of item.transfers) {
    const refusal = admit(view, item, transfer);
    if (refusal) refused.set(transfer._id, refusal);
  }
  const batch = refuseItems(item.batch, refused);
  const answer = item.answer(batch);
  view.createBatch(batch);
  if (claim) view.claim({ ...claim, tenant, answer, resource: id });
  return { kind: 'answered', answer, resource: id, replayed: false };
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
  view.create(held);
  view.post(holdPosting(held));
  return null;
}

/** Why this transfer can't be accepted, or null. A refusal uses up neither reference nor limit. */
function refuse(view: View, item: Admission, transfer: Transfer, wallet: Wallet): ApiError | null {
  const first = view.reference(referenceKey(item.tenant, transfer.reference));
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

function decideFactItem(view: View, item: FactItem, now: Date): FactOutcome {
  const transfer = view.transfer(item.id);
  if (!transfer || transfer.tenant !== item.tenant) return { kind: 'no_such_transfer' };
  const wallet = view.wallet(item.tenant);
  const transition = applyFact(transfer, item.fact, now, wallet.availableMinor);
  const changed = transition.next !== transfer;
  const next = changed ? view.change(transfer, transition.next) : transfer;
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
  const transfer = view.transfer(item.id);
  const own = transfer?.tenant === item.tenant ? transfer : undefined;
  const next = own ? permit(own, item.request, now) : null;
  return { kind: 'permit', transfer: own && next ? view.change(own, next) : null };
}

/** Money from outside: what the tenant owes is taken first, the rest becomes available. Once per posting id. */
function decideCredit(view: View, item: CreditItem, now: Date): CreditOutcome {
  const wallet = view.wallet(item.tenant);
  const earlier = view.posting(item.id);
  if (earlier) {
    const moved = earlier.legs.find((leg) => leg.account === accounts.external)?.amountMinor;
    return moved === -item.amountMinor
      ? { kind: 'credited', availableMinor: wallet.availableMinor }
      : { kind: 'credit_conflict' };
  }
  const repaid = wallet.owedMinor < item.amountMinor ? wallet.owedMinor : item.amountMinor;
  const availableMinor = wallet.availableMinor + item.amountMinor - repaid;
  view.post(
    posting(item.id, item.tenant, now, [
      { account: accounts.external, amountMinor: -item.amountMinor },
      { account: accounts.receivable(item.tenant), amountMinor: repaid },
      { account: accounts.available(item.tenant), amountMinor: item.amountMinor - repaid },
    ]),
  );
  view.changeWallet({ ...wallet, availableMinor, owedMinor: wallet.owedMinor - repaid });
  return { kind: 'credited', availableMinor };
}
