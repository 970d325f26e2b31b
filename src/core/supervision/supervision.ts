import type { Collection, Document } from 'mongodb';

/** A record whose workflow the dispatcher checks at `next_check_at`; null once there is nothing left to do. */
export type Supervised = { _id: string; next_check_at: Date | null };

/** Longest pause between two checks of a record, in stall timeouts. */
const MAX_STALL_TIMEOUTS = 10;

/**
 * Finds the records of a collection whose check is due, and reschedules them. `lastActivityField` is the time of a
 * record's last change.
 */
export function supervisionOf<R extends Supervised>(
  collection: Collection<R>,
  lastActivityField: keyof R & string,
  { clock, stallTimeoutMs }: { clock: () => Date; stallTimeoutMs: number },
) {
  const records = collection as unknown as Collection<Supervised & Document>;
  return {
    /** Records whose check is due, the oldest first, without their timelines. */
    async due(limit: number): Promise<R[]> {
      const found = await records
        // `$type` lets the query use the partial index.
        .find({ next_check_at: { $lt: clock(), $type: 'date' } }, { projection: { timeline: 0 } })
        .sort({ next_check_at: 1 })
        .limit(limit)
        .toArray();
      return found as unknown as R[];
    },

    /**
     * Sets the next check of records whose workflow was just started. The pause is twice the time since the record's last
     * change, within bounds: if workers are behind, waiting records are not started again and again. Records whose check
     * was changed since they were found are left alone.
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

/** Filter for the found records whose next check has not changed since. */
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
