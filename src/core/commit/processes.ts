import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import type { Log } from '../../shared/log.js';

/** A process that commits mutations for other processes of its release. */
export type CommitProcess = {
  _id: string;
  /** Address of its internal listener. */
  url: string;
  /** Authenticates the other processes. It is sealed: whoever reads the database cannot commit by it. */
  token: string;
  release: string;
  seen_at: Date;
};

const SEEN_EVERY_MS = 2_000;
/** A process that was not seen for longer gets no mutation. */
const GONE_AFTER_MS = 6_000;
const FORGOTTEN_AFTER_SECONDS = 60;
const LIST_KEPT_MS = 1_000;
/** A process that did not answer gets no mutation for this time. */
const SUSPECT_MS = 10_000;

export const commitProcessesCollection: CollectionSpec = {
  name: 'commit_processes',
  validator: {
    bsonType: 'object',
    required: ['_id', 'url', 'token', 'release', 'seen_at'],
    properties: {
      _id: { bsonType: 'string' },
      url: { bsonType: 'string' },
      token: { bsonType: 'string' },
      release: { bsonType: 'string' },
      seen_at: { bsonType: 'date' },
    },
  },
  indexes: [
    { name: 'forgotten', key: { seen_at: 1 }, expireAfterSeconds: FORGOTTEN_AFTER_SECONDS },
  ],
  sealed: [{ path: 'token' }],
};

/** The processes of one release that commit for others, as this process knows them. */
export type CommitProcesses = ReturnType<typeof createCommitProcesses>;

type Own = { collection: Collection<CommitProcess>; id: string; release: string; log: Log };

/**
 * Lists the processes that commit for others. The list may be old, and processes may disagree: two that commit the same
 * wallet conflict, and nothing else happens.
 */
export function createCommitProcesses(db: Db, { release, log }: { release: string; log: Log }) {
  const collection = db.collection<CommitProcess>(commitProcessesCollection.name);
  const own = { collection, id: randomUUID(), release, log };
  return { ...createChoice(own), ...createReport(own) };
}

/** Chooses the process that commits for a tenant. The list is read in the background: a commit never waits for it. */
function createChoice({ collection, id, release, log }: Own) {
  const suspects = new Map<string, number>();
  /** The choice for each tenant from the present list. */
  const chosen = new Map<string, CommitProcess | null>();
  let listed: CommitProcess[] = [];
  let listedAt = -Infinity;
  let listing: Promise<void> | null = null;

  async function list(): Promise<void> {
    const seen = { $gt: ['$seen_at', { $subtract: ['$$NOW', GONE_AFTER_MS] }] };
    try {
      listed = await collection.find({ release, $expr: seen }).toArray();
      chosen.clear();
    } catch (error) {
      log.warn({ err: error }, 'could not list the commit processes');
    }
    listedAt = performance.now();
    listing = null;
  }

  const isTrusted = ({ _id }: CommitProcess) =>
    performance.now() - (suspects.get(_id) ?? -Infinity) > SUSPECT_MS;

  function choose(tenantId: string): CommitProcess | null {
    const [first] = listed
      .filter(isTrusted)
      .map((process) => ({ process, rank: rankOf(process._id, tenantId) }))
      .toSorted((a, b) => (a.rank < b.rank ? 1 : -1));
    return first === undefined || first.process._id === id ? null : first.process;
  }

  return {
    /** The process that commits this tenant's mutations, or null if it is this one or none is known. */
    committerOf(tenantId: string): CommitProcess | null {
      if (performance.now() - listedAt >= LIST_KEPT_MS) listing ??= list();
      const known = chosen.get(tenantId);
      if (known !== undefined) return known;
      const process = choose(tenantId);
      chosen.set(tenantId, process);
      return process;
    },

    /** The processes that commit for others, without this one and those that did not answer. */
    async others(): Promise<CommitProcess[]> {
      if (listedAt === -Infinity) await (listing ??= list());
      return listed.filter((process) => process._id !== id && isTrusted(process));
    },

    /** Notes that this process did not answer. */
    suspect({ _id }: CommitProcess): void {
      suspects.set(_id, performance.now());
      chosen.clear();
    },

    /** The number of processes that commit for others, this one included, by the present list. */
    known: () => listed.length,

    /** Resolves when no read of the list is in progress. */
    idle: async () => void (await listing),
  };
}

/** Makes this process known to the others. */
function createReport({ collection, id, release, log }: Own) {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let reportedAt: Date | null = null;
  return {
    /** Reports this process until it leaves, and returns the token that the others send. */
    async join(url: string): Promise<string> {
      const token = randomBytes(32).toString('base64url');
      const report = async () => {
        await collection.updateOne(
          { _id: id },
          { $set: { url, token, release }, $currentDate: { seen_at: true } },
          { upsert: true },
        );
        reportedAt = new Date();
      };
      await report();
      timer = setInterval(() => {
        writing = report().catch((error: unknown) =>
          log.warn({ err: error }, 'could not report this commit process'),
        );
      }, SEEN_EVERY_MS);
      timer.unref();
      return token;
    },

    /** The last report of this process; null if it commits for no other. */
    reportedAt: () => reportedAt,

    /** Removes this process from the list. */
    async leave(): Promise<void> {
      clearInterval(timer);
      reportedAt = null;
      await writing;
      await collection.deleteOne({ _id: id });
    },
  };
}

/** Each tenant has a process of its own choice, and keeps it while other processes come and go (rendezvous hashing). */
const rankOf = (processId: string, tenantId: string): string =>
  createHash('sha256').update(`${processId}/${tenantId}`).digest('hex');
