import type { Db } from 'mongodb';
import { isDuplicate } from './duplicate.js';
import type { CollectionSpec } from './migrations.js';

/** Work of a loop that one process at a time does: its name, and until when no other process begins it. */
type Lease = { _id: string; until: Date };

/** The leases of loops. */
export const leasesCollection: CollectionSpec = {
  name: 'leases',
  validator: {
    bsonType: 'object',
    required: ['until'],
    properties: { until: { bsonType: 'date' } },
  },
  indexes: [],
};

/** A process that dies during the work keeps it from the others for this long. */
const HELD_FOR_MS = 30_000;

const BEGINNING = new Date(0);

/** Lets one process at a time do the work of a loop. */
export type LeasedWork = ReturnType<typeof createLeasedWork>;

/**
 * Creates the work of a loop that every process has, and that one of them does every `everyMs`. All times are those of the
 * server, so a process whose clock is ahead does not keep it from the others. Work that takes longer than its lease may be done by
 * two processes at once: it must be repeatable.
 */
export function createLeasedWork(db: Db, { name, everyMs }: { name: string; everyMs: number }) {
  const leases = db.collection<Lease>(leasesCollection.name);
  const isDue = { $expr: { $lte: ['$until', '$$NOW'] } };
  const inMs = (ms: number) => [{ $set: { until: { $add: ['$$NOW', ms] } } }];

  /** Takes the lease if no other process has it; the end of the lease, or null. */
  async function take(): Promise<Date | null> {
    const options = { returnDocument: 'after' } as const;
    const taken = await leases.findOneAndUpdate(
      { _id: name, ...isDue },
      inMs(HELD_FOR_MS),
      options,
    );
    return taken?.until ?? null;
  }

  /** Creates the document of the lease. False if there is one. */
  async function create(): Promise<boolean> {
    if (await leases.findOne({ _id: name })) return false;
    try {
      await leases.insertOne({ _id: name, until: BEGINNING });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    return true;
  }

  /**
   * Does the work if it is due and no other process does it. `work` gets the server's time, and answers whether there is more to do
   * now; so does this. If it throws, it is due again as after its end.
   */
  return async (work: (now: Date) => Promise<boolean>): Promise<boolean> => {
    const until = (await take()) ?? ((await create()) ? await take() : null);
    if (until === null) return false;
    let more = false;
    try {
      more = await work(new Date(until.getTime() - HELD_FOR_MS));
    } finally {
      await leases.updateOne({ _id: name, until }, inMs(more ? 0 : everyMs));
    }
    return more;
  };
}
