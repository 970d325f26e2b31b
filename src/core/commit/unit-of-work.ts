import type { CardAuthorization } from '../../capabilities/card-authorizations/card-authorization.js';
import type { Card } from '../../capabilities/cards/card.js';
import type { CardEventReplay } from '../provider-events/event.js';
import type { CardOperation } from '../../capabilities/cards/card-operation.js';
import { ApiError, errorBody } from '../../shared/errors.js';
import type { Charge } from '../../capabilities/charges/charge.js';
import type { RecurringCharge } from '../../capabilities/recurring-charges/recurring-charge.js';
import type { Refund } from '../../capabilities/refunds/refund.js';
import type { PaymentToken } from '../../capabilities/payment-tokens/payment-token.js';
import { sumChanges, type CountChange } from '../../capabilities/transfers/counts.js';
import type { BulkTransfer } from '../../capabilities/bulk-transfers/bulk-transfer.js';
import type { Transfer } from '../../capabilities/transfers/transfer.js';
import type { EventDraft } from '../webhooks/event.js';
import type { Posting } from '../ledger/posting.js';
import { emptyWallet, type Wallet } from '../ledger/wallet.js';

/** A final answer to a request, as the bytes that a retry gets again. */
export type SavedResponse = { status: number; body: string };

/** An idempotency key to be claimed together with what it protects. */
export type Claim = { id: string; fingerprint: string; createdAt: Date; expiresAt: Date };

/** A key that was claimed. `resource` is null where the request was refused. */
export type ClaimedKey = Claim & {
  tenantId: string;
  answer: SavedResponse;
  resource: string | null;
};

/** What commits make and change beside the books, by collection. A capability adds its own line. */
export type Records = {
  transfers: Transfer;
  bulk_transfers: BulkTransfer;
  cards: Card;
  card_operations: CardOperation;
  card_authorizations: CardAuthorization;
  provider_event_replays: CardEventReplay;
  payment_tokens: PaymentToken;
  charges: Charge;
  refunds: Refund;
  recurring_charges: RecurringCharge;
};
export type RecordName = keyof Records;
export const RECORD_NAMES = [
  'transfers',
  'bulk_transfers',
  'cards',
  'card_operations',
  'card_authorizations',
  'provider_event_replays',
  'payment_tokens',
  'charges',
  'refunds',
  'recurring_charges',
] as const satisfies RecordName[];

/** A caller's own name for a record, unique among the tenant's records of that collection. */
export type Reference = { collection: RecordName; tenantId: string; reference: string };

export const referenceKey = ({ collection, tenantId, reference }: Reference) =>
  `${collection}/${tenantId}/${reference}`;

/** What a try to decide an item has to see. */
export type Reads = {
  keys?: string[];
  references?: Reference[];
  records?: Partial<Record<RecordName, string[]>>;
  /** Postings that it would repeat. */
  postings?: string[];
  /** Wallets whose document it may change, by tenant. */
  wallets?: string[];
  /** Records that can only be named once those above have been read. */
  further?: (found: Snapshot['records']) => Partial<Record<RecordName, string[]>>;
};

/** What the transaction read. Only what the items name is in it. */
export type Snapshot = {
  /** What is missing does not exist. If not: or a unique index holds it, and this first try does not look. */
  fullRead: boolean;
  keys: Map<string, ClaimedKey>;
  /** The ids of the records that have them, by `referenceKey`. */
  references: Map<string, string>;
  records: { [Name in RecordName]: Map<string, Records[Name]> };
  postings: Map<string, Posting>;
  wallets: Map<string, Wallet>;
};

/** Everything that one transaction writes. */
export type Writes = {
  newKeys: ClaimedKey[];
  /** Keys that had expired and are used again. */
  renewedKeys: ClaimedKey[];
  created: { [Name in RecordName]: Records[Name][] };
  changed: { [Name in RecordName]: Records[Name][] };
  postings: Posting[];
  /** Only for tenants whose wallet is written too. */
  counts: CountChange[];
  wallets: Wallet[];
  /** What the changes are to be told as; written for those tenants that listen. */
  events: EventDraft[];
};

/** A value for each collection of records. */
export const forRecords = <T>(make: (name: RecordName) => T) =>
  Object.fromEntries(RECORD_NAMES.map((name) => [name, make(name)])) as Record<RecordName, T>;

export type UnitOfWork = ReturnType<typeof createUnitOfWork>;

/** A first try can't decide this: everything has to be read. Nothing has failed. */
export class NeedsFullRead extends Error {}

/** The snapshot with the effects of the items so far laid over it. */
export function createUnitOfWork(snapshot: Snapshot) {
  type Layer = { [Name in RecordName]: Map<string, Records[Name]> };
  const keys = new Map<string, ClaimedKey>();
  const references = new Map<string, string>();
  const created = forRecords(() => new Map()) as Layer;
  const changed = forRecords(() => new Map()) as Layer;
  const wallets = new Map<string, Wallet>();
  const postings = new Map<string, Posting>();
  const events: EventDraft[] = [];
  const counts: CountChange[] = [];
  return {
    /**
     * Throws `Unread` in a first try. Whoever takes a key or a reference need not look at it before: a taken one collides,
     * and all is read and decided again. An answer that takes none has to be sure.
     */
    requireFullRead(): void {
      if (!snapshot.fullRead) throw new NeedsFullRead();
    },

    key: (id: string) => keys.get(id) ?? snapshot.keys.get(id),
    claim: (key: ClaimedKey) => void keys.set(key.id, key),

    /** The id of the record that has this reference. */
    reference: (of: Reference) =>
      references.get(referenceKey(of)) ?? snapshot.references.get(referenceKey(of)),
    takeReference: (of: Reference, id: string) => void references.set(referenceKey(of), id),

    record: <Name extends RecordName>(name: Name, id: string): Records[Name] | undefined =>
      changed[name].get(id) ?? created[name].get(id) ?? snapshot.records[name].get(id),
    create: <Name extends RecordName>(name: Name, record: Records[Name]) =>
      void created[name].set(record._id, record),
    change: <Name extends RecordName>(name: Name, record: Records[Name]) =>
      void (created[name].has(record._id) ? created : changed)[name].set(record._id, record),

    wallet: (tenantId: string) =>
      wallets.get(tenantId) ?? snapshot.wallets.get(tenantId) ?? emptyWallet(tenantId),
    changeWallet: (wallet: Wallet) => void wallets.set(wallet.tenantId, wallet),

    posting: (id: string) => postings.get(id) ?? snapshot.postings.get(id),
    post: (entry: Posting) => void postings.set(entry.id, entry),

    count: (change: CountChange | null) => void (change && counts.push(change)),
    emit: (event: EventDraft | null) => void (event && events.push(event)),

    writes: (): Writes => ({
      newKeys: [...keys.values()].filter((key) => !snapshot.keys.has(key.id)),
      renewedKeys: [...keys.values()].filter((key) => snapshot.keys.has(key.id)),
      created: forRecords((name) => [...created[name].values()]) as Writes['created'],
      changed: forRecords((name) => [...changed[name].values()]) as Writes['changed'],
      postings: [...postings.values()],
      counts: sumChanges(counts),
      wallets: [...wallets.values()].map((w) => ({ ...w, version: w.version + 1n })),
      events,
    }),
  };
}

/** What a request comes to. */
export type AcceptResult =
  | { kind: 'answered'; answer: SavedResponse; resource: string | null; replayed: boolean }
  | { kind: 'key_reused' };

/** What a commit answered; a key that was used for another request is an error and not an answer. */
export function throwIfKeyReused(outcome: AcceptResult) {
  if (outcome.kind === 'key_reused') throw new ApiError('idempotency_key_reused');
  return outcome;
}

/** A refusal as the answer that is given and kept. */
export const refusalResponse = (error: ApiError): SavedResponse => ({
  status: error.status,
  body: JSON.stringify(errorBody(error)),
});

/**
 * What a key that is already claimed answers; null where it is free, also when it has expired. `own` is what this
 * request would make: found under the key, it is this request's own earlier commit.
 */
export function findSavedResponse(
  uow: UnitOfWork,
  claim: Claim | null,
  own: string | null,
  now: Date,
): AcceptResult | null {
  const earlier = claim && uow.key(claim.id);
  if (!claim || !earlier || earlier.expiresAt <= now) return null;
  if (earlier.fingerprint !== claim.fingerprint) return { kind: 'key_reused' };
  const { answer, resource } = earlier;
  return { kind: 'answered', answer, resource, replayed: own === null || resource !== own };
}

/** Answers a request; its key, if there is one, keeps the answer. `resource` is what was made, null if refused. */
export function saveResponse(
  uow: UnitOfWork,
  { tenantId, claim }: { tenantId: string; claim: Claim | null },
  answer: SavedResponse,
  resource: string | null = null,
): AcceptResult {
  if (claim) uow.claim({ ...claim, tenantId, answer, resource });
  return { kind: 'answered', answer, resource, replayed: false };
}
