import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import type { CollectionSpec } from '../database/migrations.js';
import type { ClaimedKey, Item, Snapshot, Writes } from './decide.js';
import { referenceKey } from './decide.js';
import type { Posting } from './posting.js';
import type { Wallet } from './wallet.js';
import type { TransferBatch } from '../transfers/batch.js';
import { countsOf, countUpdate } from '../transfers/counts.js';
import type { Transfer } from '../transfers/transfer.js';

type WalletDocument = {
  _id: string;
  available_minor: bigint;
  owed_minor: bigint;
  day: string;
  day_used_minor: bigint;
  version: bigint;
};
type PostingDocument = {
  _id: string;
  tenant: string;
  legs: { account: string; amount_minor: bigint }[];
  at: Date;
};
type KeyDocument = {
  _id: string;
  tenant: string;
  fingerprint: string;
  status: number;
  body: string;
  resource: string | null;
  created_at: Date;
  expires_at: Date;
};

const long = { bsonType: 'long' };

export const walletsCollection: CollectionSpec = {
  name: 'wallets',
  validator: {
    bsonType: 'object',
    required: ['available_minor', 'owed_minor', 'day', 'day_used_minor', 'version'],
    properties: {
      available_minor: { ...long, minimum: 0 },
      owed_minor: { ...long, minimum: 0 },
      day_used_minor: { ...long, minimum: 0 },
      day: { bsonType: 'string' },
      version: long,
    },
  },
  indexes: [],
};

export const postingsCollection: CollectionSpec = {
  name: 'postings',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'legs', 'at'],
    properties: {
      tenant: { bsonType: 'string' },
      at: { bsonType: 'date' },
      legs: {
        bsonType: 'array',
        minItems: 2,
        items: {
          bsonType: 'object',
          required: ['account', 'amount_minor'],
          properties: { account: { bsonType: 'string' }, amount_minor: long },
        },
      },
    },
  },
  indexes: [],
};

export const idempotencyKeysCollection: CollectionSpec = {
  name: 'idempotency_keys',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'fingerprint', 'status', 'body', 'created_at', 'expires_at'],
    properties: { status: { bsonType: 'int' }, body: { bsonType: 'string' } },
  },
  // Housekeeping only: an expired key is free from the moment it expires, whenever this index gets to it.
  indexes: [{ key: { expires_at: 1 }, expireAfterSeconds: 60 * 60 }],
};

export type LedgerCollections = ReturnType<typeof ledgerCollections>;

export function ledgerCollections(db: Db) {
  return {
    wallets: db.collection<WalletDocument>('wallets'),
    postings: db.collection<PostingDocument>('postings'),
    keys: db.collection<KeyDocument>('idempotency_keys'),
    transfers: db.collection<Transfer>('transfers'),
    batches: db.collection<TransferBatch>('transfer_batches'),
    counts: countsOf(db),
  };
}

const toWallet = (d: WalletDocument): Wallet => ({
  tenant: d._id,
  availableMinor: d.available_minor,
  owedMinor: d.owed_minor,
  day: d.day,
  dayUsedMinor: d.day_used_minor,
  version: d.version,
});

const toPosting = (d: PostingDocument): Posting => ({
  id: d._id,
  tenant: d.tenant,
  at: d.at,
  legs: d.legs.map((leg) => ({ account: leg.account, amountMinor: leg.amount_minor })),
});

export const toClaimedKey = (d: KeyDocument): ClaimedKey => ({
  id: d._id,
  tenant: d.tenant,
  fingerprint: d.fingerprint,
  answer: { status: d.status, body: d.body },
  resource: d.resource,
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

/**
 * Reads what `items` name, inside their transaction: all of it as it stood at the first read.
 * A new transfer's own id is looked up only by a retry (`again`): nobody else can have made it.
 */
export async function readSnapshot(
  { wallets, postings, keys, transfers, batches }: LedgerCollections,
  items: readonly Item[],
  session: ClientSession,
  again: boolean,
): Promise<Snapshot> {
  const accepts = items.filter((item) => item.kind === 'accept');
  const claims = items.flatMap((item) => ('claim' in item && item.claim ? [item.claim.id] : []));
  const bulks = items.filter((item) => item.kind === 'bulk');
  const proposed = [...accepts.map((item) => item.transfer), ...bulks.flatMap((b) => b.transfers)];
  const named = proposed.filter((transfer) => transfer.reference !== transfer._id);
  const own = again ? accepts.map((item) => item.transfer._id) : [];
  const changes = items.filter((item) => item.kind === 'fact' || item.kind === 'permit');
  const changed = changes.map((item) => item.id);
  const credits = items.filter((item) => item.kind === 'credit').map((item) => item.id);
  const touchesWallet = items.filter((item) => item.kind !== 'refusal' && !leavesWallet(item));

  const claimed = await readAll(keys, claims, session);
  const taken = await readReferences(transfers, named, session);
  const records = await readAll(transfers, [...own, ...changed], session);
  const made = await readAll(batches, again ? bulks.map((item) => item.batch._id) : [], session);
  const posted = await readAll(postings, credits, session);
  const read = await readAll(
    wallets,
    touchesWallet.map((item) => item.tenant),
    session,
  );
  return {
    keys: new Map(claimed.map((d) => [d._id, toClaimedKey(d)])),
    references: new Map(taken.map((t) => [referenceKey(t.tenant, t.reference), t._id])),
    transfers: new Map(records.map((t) => [t._id, t])),
    batches: new Map(made.map((batch) => [batch._id, batch])),
    postings: new Map(posted.map((d) => [d._id, toPosting(d)])),
    wallets: new Map(read.map((d) => [d._id, toWallet(d)])),
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

/** Items that move nothing in the wallet's document: they must not compete with acceptance for it. */
export const leavesWallet = (item: Item): boolean =>
  item.kind === 'permit' || (item.kind === 'fact' && item.fact.kind === 'paid');

async function readReferences(
  transfers: LedgerCollections['transfers'],
  named: readonly Transfer[],
  session: ClientSession,
): Promise<Pick<Transfer, '_id' | 'tenant' | 'reference'>[]> {
  const byTenant = new Map<string, string[]>();
  for (const { tenant, reference } of named) {
    const list = byTenant.get(tenant);
    if (list) list.push(reference);
    else byTenant.set(tenant, [reference]);
  }
  if (byTenant.size === 0) return [];
  const $or = [...byTenant].map(([tenant, list]) => ({ tenant, reference: { $in: list } }));
  return await transfers
    .find({ $or }, { session, projection: { tenant: 1, reference: 1 } })
    .toArray();
}

/** Writes one decision: a bulk write per collection, wallets last, right before the commit. */
export async function applyWrites(
  { wallets, postings, keys, transfers, batches, counts }: LedgerCollections,
  writes: Writes,
  session: ClientSession,
): Promise<void> {
  const bulk = { session, ordered: false } as const;
  if (writes.newKeys.length > 0) await keys.insertMany(writes.newKeys.map(fromKey), bulk);
  if (writes.renewedKeys.length > 0) {
    await keys.bulkWrite(writes.renewedKeys.map(renewKey), bulk);
  }
  const transferWrites: AnyBulkWriteOperation<Transfer>[] = [
    ...writes.newTransfers.map((document) => ({ insertOne: { document } })),
    ...writes.changedTransfers.map((t) => ({
      replaceOne: { filter: { _id: t._id, tenant: t.tenant }, replacement: t },
    })),
  ];
  if (transferWrites.length > 0) await transfers.bulkWrite(transferWrites, bulk);
  if (writes.newBatches.length > 0) await batches.insertMany(writes.newBatches, bulk);
  if (writes.postings.length > 0) {
    await postings.insertMany(writes.postings.map(fromPosting), bulk);
  }
  if (writes.counts.length > 0) await counts.bulkWrite(writes.counts.map(countUpdate), bulk);
  if (writes.wallets.length > 0) {
    await wallets.bulkWrite(
      writes.wallets.map(({ tenant, ...wallet }) => ({
        replaceOne: {
          // The version that was read: a wallet that was decided on unread would be a new one, and collide.
          filter: { _id: tenant, version: wallet.version - 1n },
          replacement: {
            available_minor: wallet.availableMinor,
            owed_minor: wallet.owedMinor,
            day: wallet.day,
            day_used_minor: wallet.dayUsedMinor,
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
  tenant: p.tenant,
  at: p.at,
  legs: p.legs.map((leg) => ({ account: leg.account, amount_minor: leg.amountMinor })),
});

const fromKey = (key: ClaimedKey): KeyDocument => ({
  _id: key.id,
  tenant: key.tenant,
  fingerprint: key.fingerprint,
  status: key.answer.status,
  body: key.answer.body,
  resource: key.resource,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
});

/** An expired key is replaced by the transaction that uses it again. */
const renewKey = (key: ClaimedKey): AnyBulkWriteOperation<KeyDocument> => ({
  replaceOne: { filter: { _id: key.id }, replacement: fromKey(key), upsert: true },
});
