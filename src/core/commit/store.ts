import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import { failpoint } from '../../shared/failpoints.js';
import { countsOf, countUpdate } from '../../capabilities/transfers/counts.js';
import type { KeyDocument, PostingDocument, WalletDocument } from '../ledger/collections.js';
import { mutationOf, type AnyMutationInput } from './mutations.js';
import type { Posting } from '../ledger/posting.js';
import {
  forRecords,
  RECORD_NAMES,
  referenceKey,
  type ClaimedKey,
  type Reads,
  type RecordName,
  type Records,
  type Reference,
  type Snapshot,
  type Writes,
} from './unit-of-work.js';
import type { Wallet } from '../ledger/wallet.js';

type RecordCollections = { [Name in RecordName]: Collection<Records[Name]> };
/** Of which capability a record is does not matter to who only reads and writes it. */
type AnyRecord = { _id: string; tenant_id: string };
type AnyRecords = Record<RecordName, Collection<AnyRecord>>;

export type LedgerCollections = ReturnType<typeof ledgerCollections>;

export function ledgerCollections(db: Db) {
  return {
    wallets: db.collection<WalletDocument>('wallets'),
    postings: db.collection<PostingDocument>('postings'),
    keys: db.collection<KeyDocument>('idempotency_keys'),
    records: forRecords((name) => db.collection(name)) as RecordCollections,
    counts: countsOf(db),
  };
}

const toWallet = (d: WalletDocument): Wallet => ({
  tenantId: d._id,
  availableMinor: d.available_minor,
  owedMinor: d.receivable_minor,
  day: d.limit_day,
  dayUsedMinor: d.limit_used_minor,
  version: d.version,
});

const toPosting = (d: PostingDocument): Posting => ({
  id: d._id,
  tenantId: d.tenant_id,
  at: d.at,
  legs: d.legs.map((leg) => ({ account: leg.account, amountMinor: leg.amount_minor })),
});

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

/** Reads what this try to decide the items has to see, inside their transaction: all as it stood at the first read. */
export async function readSnapshot(
  { wallets, postings, keys, records }: LedgerCollections,
  items: readonly AnyMutationInput[],
  fullRead: boolean,
  session: ClientSession,
): Promise<Snapshot> {
  const reads = items.map((item): Reads => mutationOf(item).reads(item, fullRead));
  const all = (of: (read: Reads) => string[] | undefined) =>
    reads.flatMap((read) => of(read) ?? []);
  const claimed = await readAll(
    keys,
    all((read) => read.keys),
    session,
  );
  const wanted = reads.flatMap((read) => read.references ?? []);
  const references = await readReferences(records, wanted, session);
  const found = forRecords(() => new Map<string, AnyRecord>());
  const find = async (named: Reads['records'][]) => {
    for (const name of RECORD_NAMES) {
      const ids = named.flatMap((each) => each?.[name] ?? []);
      const documents = await readAll((records as unknown as AnyRecords)[name], ids, session);
      for (const document of documents) found[name].set(document._id, document);
    }
  };
  await find(reads.map((read) => read.records));
  await find(reads.map((read) => read.further?.(found as unknown as Snapshot['records'])));
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
    records: found as unknown as Snapshot['records'],
    postings: new Map(posted.map((d) => [d._id, toPosting(d)])),
    wallets: new Map(owned.map((d) => [d._id, toWallet(d)])),
  };
}

/**
 * Makes a long transaction the owner of these wallets before it begins: others that come meanwhile conflict with it and
 * try again, instead of it losing all its work to each short one that overtakes it.
 */
export async function ownWallets(
  { wallets }: LedgerCollections,
  tenants: string[],
  session: ClientSession,
): Promise<void> {
  await wallets.updateMany({ _id: { $in: tenants } }, { $inc: { version: 1 } }, { session });
}

/** Which of these references are taken, and by which record: one query for each collection. */
async function readReferences(
  records: LedgerCollections['records'],
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
    for (const { _id, tenant_id: tenantId, reference } of await (
      records[collection] as unknown as Collection<AnyRecord & { reference: string }>
    )
      .find({ $or }, options)
      .toArray()) {
      taken.set(referenceKey({ collection, tenantId, reference }), _id);
    }
  }
  return taken;
}

/** Writes one decision: a bulk write per collection, wallets last, right before the commit. */
export async function applyWrites(
  { wallets, postings, keys, records, counts }: LedgerCollections,
  writes: Writes,
  session: ClientSession,
): Promise<void> {
  const bulk = { session, ordered: false } as const;
  if (writes.newKeys.length > 0) await keys.insertMany(writes.newKeys.map(fromKey), bulk);
  if (writes.renewedKeys.length > 0) {
    await keys.bulkWrite(writes.renewedKeys.map(renewKey), bulk);
  }
  if (writes.newKeys.length > 0) failpoint('claim.written');
  for (const name of RECORD_NAMES) {
    const changes: AnyBulkWriteOperation<AnyRecord>[] = [
      ...writes.created[name].map((document) => ({ insertOne: { document } })),
      ...writes.changed[name].map((record) => ({
        replaceOne: {
          filter: { _id: record._id, tenant_id: record.tenant_id },
          replacement: record,
        },
      })),
    ];
    if (changes.length === 0) continue;
    // In order: past a duplicate there is no transaction any more, and what is said of that would hide the duplicate.
    const collection = (records as unknown as AnyRecords)[name];
    await collection.bulkWrite(changes, { session, ordered: true });
  }
  if (writes.postings.length > 0) {
    await postings.insertMany(writes.postings.map(fromPosting), bulk);
  }
  if (writes.counts.length > 0) await counts.bulkWrite(writes.counts.map(countUpdate), bulk);
  if (writes.wallets.length > 0) {
    await wallets.bulkWrite(
      writes.wallets.map(({ tenantId, ...wallet }) => ({
        replaceOne: {
          // The version that was read: a wallet that was decided on unread would be a new one, and collide.
          filter: { _id: tenantId, version: wallet.version - 1n },
          replacement: {
            available_minor: wallet.availableMinor,
            receivable_minor: wallet.owedMinor,
            limit_day: wallet.day,
            limit_used_minor: wallet.dayUsedMinor,
            version: wallet.version,
          },
          upsert: true,
        },
      })),
      bulk,
    );
  }
}

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
