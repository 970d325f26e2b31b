import type { ClientSession, Collection, Db, Document, Filter } from 'mongodb';
import { HOUR_MS } from '../../shared/durations.js';
import {
  breakId,
  breaksCollection,
  OPEN_BREAKS,
  seenOf,
  type Break,
  type BreakKind,
  type FoundBreak,
} from './break.js';
import type { ReconcileReport } from './comparison.js';

/** Filters of a list of breaks. */
export type BreakSelection = {
  kind?: BreakKind | undefined;
  provider?: string | undefined;
  status: Break['status'];
  limit: number;
};

/** The references that a run has compared, beside the breaks that it has found among them. */
export type Compared = {
  source: FoundBreak['source'];
  provider: string;
  references: readonly string[];
  found: readonly FoundBreak[];
};

/** The breaks of records that a run compares beside its own. */
type OpenBreaks = { capability: string; provider?: string; limit: number };

/** A record of a tenant. */
export type RecordKey = { tenantId: string; id: string };

/** A break that was seen within this time is one of the present run. */
const SEEN_WITHIN_MS = HOUR_MS;

/** Records of open breaks that are compared at once. */
const BATCH = 8;
/** An activity has ten minutes, and the page before has taken some. */
const COMPARE_FOR_MS = HOUR_MS / 20;
/** So many records without an answer are enough for one run. */
const MOST_UNANSWERED = 2 * BATCH;

/**
 * Compares the records of breaks that are open since an earlier run. A run reads the records of its days alone, so the break of
 * an older record would stay open after both sides agree. It ends after some that have no answer, or when its time is over: the
 * next run begins with the breaks that were not tried for the longest time.
 */
export async function compareOpenBreaks(
  breaks: Pick<Breaks, 'openOf' | 'noteTry'>,
  of: OpenBreaks,
  compare: (records: readonly RecordKey[]) => Promise<Pick<ReconcileReport, 'unanswered'>>,
  clock: () => number = () => performance.now(),
): Promise<void> {
  const until = clock() + COMPARE_FOR_MS;
  const open = await breaks.openOf(of);
  let unanswered = 0;
  for (let at = 0; at < open.length && clock() < until; at += BATCH) {
    const batch = open.slice(at, at + BATCH);
    await breaks.noteTry(batch.map(({ _id }) => _id));
    const compared = await compare(
      batch.flatMap(({ tenant_id: tenantId, reference: id }) =>
        tenantId === null ? [] : [{ tenantId, id }],
      ),
    );
    unanswered += compared.unanswered;
    if (unanswered >= MOST_UNANSWERED) return;
  }
}

/** The stored breaks. */
export type Breaks = ReturnType<typeof createBreaks>;

/** Creates the store of breaks. */
export function createBreaks(db: Db, clock: () => Date = () => new Date()) {
  const collection = db.collection<Break>(breaksCollection.name);

  async function store(found: readonly FoundBreak[]): Promise<void> {
    if (found.length === 0) return;
    const updates = found.map((each) => ({
      updateOne: { filter: { _id: breakId(each) }, update: asSeen(each, clock()), upsert: true },
    }));
    await collection.bulkWrite(updates, { ordered: false });
  }

  return {
    /**
     * Keeps what a run has found about these references, and closes the open breaks of them that it has not found. A repeat
     * changes no more than the counts.
     */
    async note({ source, provider, references, found }: Compared): Promise<void> {
      await store(found);
      if (references.length === 0) return;
      const agreed = { at: clock(), by: 'agreement', operator: null, reason: null, seen: null };
      await collection.updateMany(
        {
          reference: { $in: [...references] },
          status: 'open',
          source,
          provider,
          _id: { $nin: found.map(breakId) },
        },
        { $set: { status: 'closed', closed: agreed } } as Document,
        { hint: 'open_of' },
      );
    },

    find: (id: string): Promise<Break | null> => collection.findOne({ _id: id }),

    /** Open breaks of records that no run has seen for a while, those first that were not tried for the longest time. */
    openOf: (of: OpenBreaks): Promise<Break[]> => findOpenOf(collection, of, clock()),

    /** Notes that a run compares these: one that cannot be compared lets the others go first. */
    noteTry: (ids: readonly string[]) =>
      collection.updateMany({ _id: { $in: [...ids] } }, { $set: { last_tried_at: clock() } }),

    /** Open breaks, the longest open first; closed ones, the latest first. */
    list({ kind, provider, status, limit }: BreakSelection): Promise<Break[]> {
      const filter: Filter<Break> = {
        status,
        ...(kind !== undefined && { kind }),
        ...(provider !== undefined && { provider }),
      };
      const found = collection.find(filter).limit(limit);
      if (status === 'closed') return found.sort({ last_seen_at: -1 }).toArray();
      return found.sort({ opened_at: 1 }).hint(OPEN_BREAKS).toArray();
    },

    /** Closes an open break that an operator accepts as it is. Moves no money. Null if it is not open. */
    async accept(
      id: string,
      { operator, reason }: { operator: string; reason: string },
      session: ClientSession,
    ): Promise<Break | null> {
      const found = await collection.findOne({ _id: id, status: 'open' }, { session });
      if (!found) return null;
      const closed = {
        at: clock(),
        by: 'operator' as const,
        operator,
        reason,
        seen: seenOf(found),
      };
      await collection.updateOne(
        { _id: id, status: 'open' },
        { $set: { status: 'closed', closed } },
        { session },
      );
      return { ...found, status: 'closed', closed };
    },
  };
}

const findOpenOf = (
  collection: Collection<Break>,
  { capability, provider, limit }: OpenBreaks,
  now: Date,
): Promise<Break[]> =>
  collection
    .find({
      status: 'open',
      source: 'record',
      capability,
      ...(provider !== undefined && { provider }),
      tenant_id: { $ne: null },
      last_seen_at: { $lt: new Date(now.getTime() - SEEN_WITHIN_MS) },
    })
    .sort({ last_tried_at: 1, last_seen_at: 1 })
    .limit(limit)
    .hint(OPEN_BREAKS)
    .toArray();

/** The update of a break that a run has found. What an operator has accepted stays closed while it is the same. */
function asSeen(found: FoundBreak, now: Date): Document[] {
  const { kind, source, provider, capability, reference, tenantId, amountMinor, difference } =
    found;
  const seen = { $literal: seenOf({ difference, amount_minor: amountMinor }) };
  const isAccepted = {
    $and: [{ $eq: ['$status', 'closed'] }, { $eq: ['$closed.seen', seen] }],
  };
  const wasOpen = { $eq: ['$status', 'open'] };
  return [
    {
      $set: {
        kind,
        source,
        provider: { $literal: provider },
        capability,
        reference: { $literal: reference },
        tenant_id: { $literal: tenantId },
        amount_minor: amountMinor,
        difference: { $literal: difference },
        first_seen_at: { $ifNull: ['$first_seen_at', now] },
        opened_at: { $cond: [{ $or: [wasOpen, isAccepted] }, '$opened_at', now] },
        last_seen_at: now,
        seen: { $add: [{ $ifNull: ['$seen', 0] }, 1] },
        status: { $cond: [isAccepted, 'closed', 'open'] },
        closed: { $cond: [isAccepted, '$closed', null] },
      },
    },
  ];
}
