import type { Collection, Document } from 'mongodb';

/** What the sweep looks at: `due_at` is when somebody has to look whether its workflow still runs; null is never. */
export type Watched = { _id: string; due_at: Date | null };

/** Nothing that is due is left alone for longer than so many times the slack. */
const MAX_SLACKS = 10;

/**
 * How the sweep finds the records of a collection that nobody drives, and puts them off. `silentSince` is the field that
 * tells when a record was last heard of.
 */
export function overdue<R extends Watched>(
  collection: Collection<R>,
  silentSince: keyof R & string,
  { clock, sweepSlackMs }: { clock: () => Date; sweepSlackMs: number },
) {
  const records = collection as unknown as Collection<Watched & Document>;
  return {
    /** Those whose workflow has not been heard of in time, oldest first. */
    async due(limit: number): Promise<R[]> {
      const found = await records
        // The type is named so that the partial index serves this query.
        .find({ due_at: { $lt: clock(), $type: 'date' } }, { projection: { timeline: 0 } })
        .sort({ due_at: 1 })
        .limit(limit)
        .toArray();
      return found as unknown as R[];
    },

    /**
     * A workflow has been started for these: look again only if it says nothing. The longer a record has been silent, the
     * later, twice as long again as it has been silent: where workers are behind, what waits for them is not started again and again.
     * What was made due again since they were found stays due.
     */
    async postponeDue(found: readonly Watched[]): Promise<void> {
      const now = clock();
      const silentMs = { $subtract: [now, `$${silentSince}`] };
      const longer = { $max: [{ $multiply: [2, silentMs] }, sweepSlackMs] };
      const pauseMs = { $min: [longer, MAX_SLACKS * sweepSlackMs] };
      const next = { $cond: [{ $isNumber: '$version' }, { $add: ['$version', 1] }, '$$REMOVE'] };
      await records.updateMany(stillDue(found), [
        { $set: { due_at: { $add: [now, pauseMs] }, version: next } },
      ]);
    },
  };
}

/** Those of the found that nobody has made due again, or put off, since. */
export const stillDue = (found: readonly Watched[]) => ({
  _id: { $in: found.map(({ _id }) => _id) },
  due_at: {
    $lte: new Date(Math.max(0, ...found.map(({ due_at: at }) => at?.getTime() ?? 0))),
    $type: 'date' as const,
  },
});
