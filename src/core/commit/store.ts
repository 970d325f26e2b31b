import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import { failpoint } from '../../shared/failpoints.js';
import type { KeyDocument, PostingDocument, WalletDocument } from '../ledger/collections.js';
import type { Posting } from '../ledger/posting.js';
import type { Wallet } from '../ledger/wallet.js';
import {
  createRecordSet,
  type RecordCollection,
  type RecordKey,
  type StoredRecord,
} from './collection.js';
import type { PlannedMutation } from './mutation.js';
import type { ClaimedKey } from './saved-response.js';
import {
  referenceKey,
  type Reads,
  type Reference,
  type Snapshot,
  type Writes,
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

const toWallet = (d: WalletDocument): Wallet => ({
  tenantId: d._id,
  availableMinor: d.available_minor,
  receivableMinor: d.receivable_minor,
  limitDay: d.limit_day,
  limitUsedMinor: d.limit_used_minor,
  version: d.version,
});

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

async function readAll<T extends { _id: string }>(
  collection: Collection<T>,
  ids: Iterable<string>,
  session: ClientSession,
): Promise<T[]> {
  const list = [...new Set(ids)];
  if (list.length === 0) return [];
  // The driver's filter type can't see that T has a string _id.
  const filter = { _id: { $in: list } } as Parameters<typeof collection.find>[0];
  return (await collection.find(filter, { session }).toArray()) as unknown as T[];
}

/** Reads the data that the batch names, inside its transaction: all of it as it was at the first read. */
export async function readSnapshot(
  collections: LedgerCollections,
  batch: readonly PlannedMutation[],
  fullRead: boolean,
  session: ClientSession,
): Promise<Snapshot> {
  const { wallets, postings, keys } = collections;
  const reads = batch.map(({ mutation, input }): Reads => mutation.reads(input, fullRead));
  const all = (of: (read: Reads) => string[] | undefined) =>
    reads.flatMap((read) => of(read) ?? []);
  const claimed = await readAll(
    keys,
    all((read) => read.keys),
    session,
  );
  const wanted = reads.flatMap((read) => read.references ?? []);
  const references = await readReferences(collections, wanted, session);
  const records = createRecordSet();
  const find = async (named: RecordKey[]) => {
    for (const [of, ids] of byCollection(named)) {
      for (const record of await readAll(collections.records(of), ids, session)) {
        records.set(of, record);
      }
    }
  };
  await find(reads.flatMap((read) => read.records ?? []));
  await find(reads.flatMap((read) => read.further?.(records) ?? []));
  const posted = await readAll(
    postings,
    all((read) => read.postings),
    session,
  );
  const owned = await readAll(
    wallets,
    all((read) => read.wallets),
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

/** The ids of these records by collection, in the order of the collections' names. */
function byCollection(named: readonly RecordKey[]): Map<RecordCollection, string[]> {
  const found = new Map<RecordCollection, string[]>();
  for (const { collection, id } of named) {
    const ids = found.get(collection);
    if (ids) ids.push(id);
    else found.set(collection, [id]);
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
  if (writes.wallets.length > 0) await wallets.bulkWrite(writes.wallets.map(replaceWallet), bulk);
}

/** Inserts the new records and replaces the changed ones, collection by collection in the order of their names. */
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
        replaceOne: {
          filter: { _id: record._id, tenant_id: record.tenant_id },
          replacement: record,
        },
      })),
    ];
    // The writes run in sequence: a duplicate aborts the transaction, and errors of later writes would hide it.
    await records(of).bulkWrite(changes, { session, ordered: true });
  }
}

const replaceWallet = ({ tenantId, ...wallet }: Wallet): AnyBulkWriteOperation<WalletDocument> => ({
  replaceOne: {
    // The version that was read. A wallet that was decided on unread would be inserted as a new one, and collide.
    filter: { _id: tenantId, version: wallet.version - 1n },
    replacement: {
      available_minor: wallet.availableMinor,
      receivable_minor: wallet.receivableMinor,
      limit_day: wallet.limitDay,
      limit_used_minor: wallet.limitUsedMinor,
      version: wallet.version,
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
  replaceOne: { filter: { _id: key.id }, replacement: fromKey(key), upsert: true },
});
