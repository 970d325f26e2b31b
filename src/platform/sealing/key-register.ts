import type { ClientSession, Db } from 'mongodb';
import { isDuplicate } from '../database/duplicate.js';
import type { CollectionSpec } from '../database/migrations.js';
import type { Log } from '../../shared/log.js';
import { usesOf } from './reseal.js';
import type { SealedCollection } from './sealed-fields.js';
import type { Sealing } from './sealing.js';

/** A key that has sealed values. */
type KeyDocument = {
  _id: string;
  /** A hash under the key: another key with this id is noticed. */
  check: string;
  /** A process that seals under the key said so at this time. */
  sealing_at: Date;
  /** From this time on no value needs the key, so it may leave the list. */
  retired_at: Date | null;
};

/** The keys that have sealed values. */
export const sealingKeysCollection: CollectionSpec = {
  name: 'sealing_keys',
  validator: {
    bsonType: 'object',
    required: ['check', 'sealing_at', 'retired_at'],
    properties: {
      check: { bsonType: 'string' },
      sealing_at: { bsonType: 'date' },
      retired_at: { bsonType: ['date', 'null'] },
    },
  },
  indexes: [],
};

/** A process says so often that it seals. */
const REPORT_EVERY_MS = 3_000;
/** A process that was silent for longer does not seal any more: it has ended, or uses another key. */
const SILENT_AFTER_MS = 12_000;

const keysOf = (db: Db) => db.collection<KeyDocument>(sealingKeysCollection.name);

/**
 * Registers the first key of the list before it seals anything. Throws if the list lacks a key that has sealed values and
 * is not retired, has another key under the id of one, or begins with a retired one.
 */
export async function claimSealingKeys(db: Db, sealing: Sealing): Promise<void> {
  const { marks, currentKeyId } = sealing;
  const known = new Map((await keysOf(db).find().toArray()).map((each) => [each._id, each]));
  for (const { id, check } of marks) {
    const key = known.get(id);
    if (key && key.check !== check) {
      throw new Error(
        `BURSAR_SEALING_KEYS has another key under the id ${id} than the one that has sealed`,
      );
    }
  }
  if (known.get(currentKeyId)?.retired_at) {
    throw new Error(
      `BURSAR_SEALING_KEYS begins with the retired key ${currentKeyId}: put a new key first`,
    );
  }
  const listed = new Set(marks.map(({ id }) => id));
  const missing = [...known.values()].find(
    (key) => key.retired_at === null && !listed.has(key._id),
  );
  if (missing) {
    throw new Error(
      `BURSAR_SEALING_KEYS lacks the key ${missing._id}, under which values are sealed: ` +
        'add it to the end of the list, and remove it after bursar secrets rotate has retired it',
    );
  }
  // Of two processes that register a key at once, one collides, and then finds it registered.
  await reportSealing(db, sealing).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error;
    return reportSealing(db, sealing);
  });
}

async function reportSealing(db: Db, { marks, currentKeyId }: Sealing): Promise<void> {
  const check = marks.find(({ id }) => id === currentKeyId)?.check ?? '';
  // A retired key has another document under its id, so the insert collides.
  await keysOf(db).updateOne(
    { _id: currentKeyId, retired_at: null },
    { $currentDate: { sealing_at: true }, $setOnInsert: { check } },
    { upsert: true },
  );
}

/** Says again and again that this process seals under the first key, so that nobody retires it. */
export function keepSealing(db: Db, sealing: Sealing, log: Log): { idle(): Promise<void> } {
  let reporting: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    reporting = reportSealing(db, sealing).catch((error: unknown) =>
      log.warn({ err: error }, 'could not report the sealing key'),
    );
  }, REPORT_EVERY_MS);
  timer.unref();
  return {
    /** Stops, and waits for the last report. */
    async idle() {
      clearInterval(timer);
      await reporting;
    },
  };
}

/** A key with the number of records that need it. `seals`: a process seals under it. */
export type KeyUse = {
  id: string;
  seals: boolean;
  retiredAt: Date | null;
  records: Record<string, number>;
};

/** The ids of the keys that are not retired. */
export async function unretiredKeys(db: Db): Promise<string[]> {
  const keys = await keysOf(db).find({ retired_at: null }).sort({ _id: 1 }).toArray();
  return keys.map(({ _id }) => _id);
}

/** The registered keys, with the records that need them. It reads every collection with sealed fields. */
export async function listSealingKeys(
  db: Db,
  collections: readonly SealedCollection[],
): Promise<KeyUse[]> {
  const recent = { $gt: ['$sealing_at', { $subtract: ['$$NOW', SILENT_AFTER_MS] }] };
  const keys = await keysOf(db)
    .aggregate<KeyDocument & { seals: boolean }>([
      { $sort: { _id: 1 } },
      { $addFields: { seals: recent } },
    ])
    .toArray();
  const uses: KeyUse[] = [];
  for (const { _id: id, seals, retired_at: retiredAt } of keys) {
    uses.push({ id, seals, retiredAt, records: await usesOf(db, collections, id) });
  }
  return uses;
}

/**
 * Retires a key, so that a process starts without it. False if a process has sealed under it since it was listed. Only a key
 * without records may be retired.
 */
export async function retireSealingKey(
  db: Db,
  id: string,
  session: ClientSession,
): Promise<boolean> {
  const silent = { $lt: ['$sealing_at', { $subtract: ['$$NOW', SILENT_AFTER_MS] }] };
  const { modifiedCount } = await keysOf(db).updateOne(
    { _id: id, retired_at: null, $expr: silent },
    { $currentDate: { retired_at: true } },
    { session },
  );
  return modifiedCount === 1;
}
