import type { Collection, Document } from 'mongodb';

/** What the sweep looks at: `next_check_at` is when somebody has to look whether its workflow still runs; null is never. */
export type Supervised = { _id: string; next_check_at: Date | null };

/** Nothing that is due is left alone for longer than so many times the slack. */
const MAX_STALL_TIMEOUTS = 10;

/**
 * How the sweep finds the records of a collection that nobody drives, and puts them off. `lastActivityField` is the field that
 * tells when a record was last heard of.
 */
export function supervisionOf<R extends Supervised>(
  collection: Collection<R>,
  lastActivityField: keyof R & string,
  { clock, stallTimeoutMs }: { clock: () => Date; stallTimeoutMs: number },
) {
  const records = collection as unknown as Collection<Supervised & Document>;
  return {
    /** Those whose workflow has not been heard of in time, oldest first. */
    async due(limit: number): Promise<R[]> {
      const found = await records
        // The type is named so that the partial index serves this query.
        .find({ next_check_at: { $lt: clock(), $type: 'date' } }, { projection: { timeline: 0 } })
        .sort({ next_check_at: 1 })
        .limit(limit)
        .toArray();
      return found as unknown as R[];
    },

    /**
     * A workflow has been started for these: look again only if it says nothing. The longer a record has been silent, the
     * later, twice as long again as it has been silent: where workers are behind, what waits for them is not started again and again.
     * What was made due again since they were found stays due.
     */
    async rescheduleCheck(found: readonly Supervised[]): Promise<void> {
      const now = clock();
      const unchangedMs = { $subtract: [now, `$${lastActivityField}`] };
      const longer = { $max: [{ $multiply: [2, unchangedMs] }, stallTimeoutMs] };
      const pauseMs = { $min: [longer, MAX_STALL_TIMEOUTS * stallTimeoutMs] };
      const next = { $cond: [{ $isNumber: '$version' }, { $add: ['$version', 1] }, '$$REMOVE'] };
      await records.updateMany(unchangedSince(found), [
        { $set: { next_check_at: { $add: [now, pauseMs] }, version: next } },
      ]);
    },
  };
}

/** Those of the found that nobody has made due again, or put off, since. */
export const unchangedSince = (found: readonly Supervised[]) => ({
  _id: { $in: found.map(({ _id }) => _id) },
  next_check_at: {
    $lte: new Date(Math.max(0, ...found.map(({ next_check_at: at }) => at?.getTime() ?? 0))),
    $type: 'date' as const,
  },
});

/** A store of supervised records with the starter of their workflows, as the dispatcher uses them. */
export type SupervisedRecords = {
  store: {
    due(limit: number): Promise<Supervised[]>;
    rescheduleCheck(found: Supervised[]): Promise<void>;
  };
  starter: { start(due: Supervised): Promise<void> };
};

/** Joins a store with its starter. Their record types are checked here, so that the dispatcher can mix them. */
export const supervised = <Due extends Supervised>(
  store: {
    due(limit: number): Promise<Due[]>;
    rescheduleCheck(found: Due[]): Promise<void>;
  },
  starter: { start(due: Due): Promise<void> },
): SupervisedRecords => ({ store, starter });
