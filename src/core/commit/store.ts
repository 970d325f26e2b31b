import type {
  AnyBulkWriteOperation,
  ClientSession,
  Collection,
  Db,
  Filter,
  UpdateFilter,
  Timestamp,
} from 'mongodb';
import { BY_ID, ownedFilter, type Owned } from '../../platform/database/tenant-filters.js';
import { failpoint } from '../../shared/failpoints.js';
import { type KeyDocument, type PostingDocument } from '../ledger/collections.js';
import type { Posting } from '../ledger/posting.js';
import { type Wallet, toWallet, type WalletDocument } from '../ledger/wallet.js';
import { type RecordCollection, type RecordKey, type StoredRecord } from './collection.js';
import { approvals } from '../approvals/approval.js';
import { type PlannedMutation } from './mutation.js';
import type { ClaimedKey } from './accept.js';
import {
  referenceKey,
  type Reads,
  type Reference,
  type Snapshot,
  type Writes,
  createRecordSet,
  actIn,
} from './unit-of-work.js';

/** The collections that every commit uses. */
type LedgerCollections = ReturnType<typeof ledgerCollections>;

/** The collections that every commit may read and write, and `records` for those that mutations name. */
export function ledgerCollections(db: Db) {
  return {
    db,
    wallets: db.collection<WalletDocument>('wallets'),
    postings: db.collection<PostingDocument>('postings'),
    keys: db.collection<KeyDocument>('idempotency_keys'),
    records: <R extends StoredRecord>(of: RecordCollection<R>): Collection<R> =>
      db.collection<R>(of.name),
  };
}

const toPosting = (d: PostingDocument): Posting => ({
  id: d._id,
  tenantId: d.tenant_id,
  at: d.at,
  legs: d.legs.map((leg) => ({ account: leg.account, amountMinor: leg.amount_minor })),
});

/** Converts a stored idempotency key. */
export const toClaimedKey = (d: KeyDocument): ClaimedKey => ({
  id: d._id,
  tenantId: d.tenant_id,
  fingerprint: d.fingerprint,
  answer: { status: d.status, body: d.body },
  resource: d.resource_id,
  createdAt: d.created_at,
  expiresAt: d.expires_at,
});

/** Reads documents of their tenants. A document of another tenant under one of the ids is not among them. */
async function readAll<T extends { _id: string; tenant_id: string }>(
  collection: Collection<T>,
  owned: readonly Owned[],
  session: ClientSession,
): Promise<T[]> {
  if (owned.length === 0) return [];
  // The driver's filter type can't see that T has a string _id.
  const filter = ownedFilter(owned) as unknown as Filter<T>;
  const found = await collection.find(filter, { session, ...BY_ID }).toArray();
  const wanted = new Set(owned.map(({ tenantId, id }) => `${tenantId}/${id}`));
  return (found as unknown as T[]).filter((d) => wanted.has(`${d.tenant_id}/${d._id}`));
}

/** Reads wallets. The id of a wallet is its tenant. */
async function readWallets(
  { wallets }: LedgerCollections,
  tenants: readonly string[],
  session: ClientSession,
): Promise<WalletDocument[]> {
  if (tenants.length === 0) return [];
  return wallets.find({ _id: { $in: [...new Set(tenants)] } }, { session }).toArray();
}

/**
 * Reads the data that the batch names, inside its transaction: all of it as it was at the first read. Each query names the
 * tenants of the mutations.
 */
export async function readSnapshot(
  collections: LedgerCollections,
  batch: readonly PlannedMutation[],
  fullRead: boolean,
  session: ClientSession,
): Promise<Snapshot> {
  const { postings, keys } = collections;
  const reads = batch.map(({ mutation, input }) => ({
    tenantId: input.tenantId,
    named: mutation.reads(input, fullRead),
  }));
  const all = <N, O>(of: (named: Reads) => N[] | undefined, toOwned: (one: N, by: string) => O) =>
    reads.flatMap(({ tenantId, named }) => (of(named) ?? []).map((one) => toOwned(one, tenantId)));
  const byId = (id: string, tenantId: string): Owned => ({ id, tenantId });
  const byRecord = (record: RecordKey, tenantId: string) => ({ ...record, tenantId });
  const claimed = await readAll(
    keys,
    all((named) => named.keys, byId),
    session,
  );
  const wanted = reads.flatMap(({ named }) => named.references ?? []);
  const references = await readReferences(collections, wanted, session);
  const records = createRecordSet();
  const find = async (named: OwnedRecord[]) => {
    for (const [of, owned] of byCollection(named)) {
      for (const record of await readAll(collections.records(of), owned, session)) {
        records.set(of, record);
      }
    }
  };
  await find(all((named) => named.records, byRecord));
  await find(batch.flatMap(approvalOf));
  await find(all((named) => named.further?.(records), byRecord));
  const posted = await readAll(
    postings,
    all((named) => named.postings, byId),
    session,
  );
  const owned = await readWallets(
    collections,
    reads.flatMap(({ named }) => named.wallets ?? []),
    session,
  );
  return {
    fullRead,
    keys: new Map(claimed.map((d) => [d._id, toClaimedKey(d)])),
    references,
    records,
    postings: new Map(posted.map((d) => [d._id, toPosting(d)])),
    wallets: new Map(owned.map((d) => [d._id, toWallet(d)])),
  };
}

/** The approval that an operator's act uses. */
function approvalOf({ input }: PlannedMutation): OwnedRecord[] {
  const id = actIn(input)?.approval ?? null;
  return id === null ? [] : [{ ...approvals.ref(id), tenantId: input.tenantId }];
}

/** A record that a mutation of this tenant names. */
type OwnedRecord = RecordKey & { tenantId: string };

/** These records by collection, in the order of the collections' names. */
function byCollection(named: readonly OwnedRecord[]): Map<RecordCollection, Owned[]> {
  const found = new Map<RecordCollection, Owned[]>();
  for (const { collection, ...owned } of named) {
    const before = found.get(collection);
    if (before) before.push(owned);
    else found.set(collection, [owned]);
  }
  return new Map([...found].toSorted(([a], [b]) => (a.name < b.name ? -1 : 1)));
}

/**
 * Makes a long transaction the owner of these wallets before it begins: shorter transactions conflict with it and try
 * again, instead of overtaking it and making it lose all its work.
 */
export async function ownWallets(
  { wallets }: LedgerCollections,
  tenants: string[],
  session: ClientSession,
): Promise<void> {
  await wallets.updateMany({ _id: { $in: tenants } }, { $inc: { version: 1 } }, { session });
}

/** The ids of the records that have these references already, by `referenceKey`: one query for each collection. */
async function readReferences(
  { records }: LedgerCollections,
  wanted: readonly Reference[],
  session: ClientSession,
): Promise<Map<string, string>> {
  const taken = new Map<string, string>();
  for (const collection of new Set(wanted.map((each) => each.collection))) {
    const byTenant = new Map<string, string[]>();
    for (const { tenantId, reference } of wanted.filter((each) => each.collection === collection)) {
      const list = byTenant.get(tenantId);
      if (list) list.push(reference);
      else byTenant.set(tenantId, [reference]);
    }
    const $or = [...byTenant].map(([tenantId, list]) => ({
      tenant_id: tenantId,
      reference: { $in: list },
    }));
    const options = { session, projection: { tenant_id: 1, reference: 1 } };
    const withReferences = collection as RecordCollection<StoredRecord & { reference: string }>;
    for (const found of await records(withReferences).find({ $or }, options).toArray()) {
      const { _id, tenant_id: tenantId, reference } = found;
      taken.set(referenceKey({ collection, tenantId, reference }), _id);
    }
  }
  return taken;
}

/** Writes one decision: a bulk write for each collection, wallets last, right before the commit. */
export async function applyWrites(
  collections: LedgerCollections,
  writes: Writes,
  session: ClientSession,
): Promise<void> {
  const { db, wallets, postings, keys } = collections;
  const bulk = { session, ordered: false } as const;
  if (writes.newKeys.length > 0) await keys.insertMany(writes.newKeys.map(fromKey), bulk);
  if (writes.renewedKeys.length > 0) {
    await keys.bulkWrite(writes.renewedKeys.map(renewKey), bulk);
  }
  if (writes.newKeys.length > 0) failpoint('claim.written');
  await writeRecords(collections, writes, session);
  if (writes.postings.length > 0) {
    await postings.insertMany(writes.postings.map(fromPosting), bulk);
  }
  for (const { counter, changes } of writes.counts) {
    if (changes.length === 0) continue;
    await db.collection(counter.name).bulkWrite(
      changes.map((change) => counter.update(change)),
      bulk,
    );
  }
  if (writes.wallets.length > 0) await wallets.bulkWrite(writes.wallets.map(updateWallet), bulk);
}

/** Inserts the new records and updates the changed ones, collection by collection in the order of their names. */
async function writeRecords(
  { records }: LedgerCollections,
  { created, changed }: Writes,
  session: ClientSession,
): Promise<void> {
  const touched = new Set([...created.collections(), ...changed.collections()]);
  for (const of of [...touched].toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const changes: AnyBulkWriteOperation<StoredRecord>[] = [
      ...created.all(of).map((document) => ({ insertOne: { document } })),
      ...changed.all(of).map((record) => ({
        updateOne: {
          filter: { _id: record._id, tenant_id: record.tenant_id },
          update: changesOf(record),
        },
      })),
    ];
    // The writes run in sequence: a duplicate aborts the transaction, and errors of later writes would hide it.
    await records(of).bulkWrite(changes, { session, ordered: true });
  }
}

/**
 * The update of a record: sets its fields, and removes those that are undefined. A field that this version does not know,
 * because a newer one added it, stays.
 */
function changesOf({ _id, ...fields }: StoredRecord): UpdateFilter<StoredRecord> {
  const removed = Object.entries(fields).filter(([, value]) => value === undefined);
  if (removed.length === 0) return { $set: fields };
  return { $set: fields, $unset: Object.fromEntries(removed.map(([name]) => [name, true])) };
}

const updateWallet = ({ tenantId, ...wallet }: Wallet): AnyBulkWriteOperation<WalletDocument> => ({
  updateOne: {
    // The version that was read. A wallet that was decided on unread would be inserted as a new one, and collide.
    filter: { _id: tenantId, version: wallet.version - 1n },
    update: {
      $set: {
        available_minor: wallet.availableMinor,
        receivable_minor: wallet.receivableMinor,
        limit_day: wallet.limitDay,
        limit_used_minor: wallet.limitUsedMinor,
        version: wallet.version,
      },
    },
    upsert: true,
  },
});

const fromPosting = (p: Posting): PostingDocument => ({
  _id: p.id,
  tenant_id: p.tenantId,
  at: p.at,
  legs: p.legs.map((leg) => ({ account: leg.account, amount_minor: leg.amountMinor })),
});

const fromKey = (key: ClaimedKey): KeyDocument => ({
  _id: key.id,
  tenant_id: key.tenantId,
  fingerprint: key.fingerprint,
  status: key.answer.status,
  body: key.answer.body,
  resource_id: key.resource,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
});

/** An expired key is replaced by the transaction that uses it again. */
const renewKey = (key: ClaimedKey): AnyBulkWriteOperation<KeyDocument> => ({
  replaceOne: {
    filter: { _id: key.id, tenant_id: key.tenantId },
    replacement: fromKey(key),
    upsert: true,
  },
});

/**
 * A process's clock may be ahead of the database server's by this much. The time of the last operation stands still for
 * up to ten seconds on an idle server, so a smaller margin would hold back correct clocks.
 */
const MARGIN_MS = 60_000;

/**
 * The time of a decision: the clock of this process, but at most `MARGIN_MS` ahead of the database server's. A clock that
 * is wrong by days can't move a limit to a later day, and can't end an idempotency key early. `operationTime` is the
 * server's time at the last read of the transaction; without it nothing was read.
 */
export function boundedNow(operationTime: Timestamp | undefined, clock = new Date()): Date {
  if (!operationTime) return clock;
  const latest = operationTime.t * 1000 + MARGIN_MS;
  return clock.getTime() > latest ? new Date(latest) : clock;
}

/**
 * The key as claimed at this time. A claim has its times from the clock of the process that got the request: if that is behind, a
 * repeat of the request would find the key expired.
 */
export const claimedAt = (key: ClaimedKey, at: Date): ClaimedKey => ({
  ...key,
  createdAt: at,
  expiresAt: new Date(at.getTime() + key.expiresAt.getTime() - key.createdAt.getTime()),
});

/**
 * The time of the postings of a commit: that of its decision, but never before the database server's time. A process whose
 * clock is behind, or an acceptance that has waited, therefore can't book on a day that is closed.
 */
export function bookingTime(operationTime: Timestamp | undefined, now: Date): Date {
  if (!operationTime) return now;
  return new Date(Math.max(now.getTime(), operationTime.t * 1000));
}
