import { MongoError, type Collection, type Document, type Filter } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { checkWithoutClaim, nextVersion } from '../../platform/database/claims.js';
import { timelineEntry } from '../instructions/timeline.js';

/** The reason of attention for a record whose workflow does nothing. The watchdog raises it and clears it. */
export const STALLED = 'its workflow does not make progress';

/** Longest pause between two checks of a record, in stall timeouts. */
export const MAX_STALL_TIMEOUTS = 10;

/** Starts without an effect that show that a workflow does nothing: the first may only have found workers behind. */
const FRUITLESS_STARTS = 2;

/** A record whose workflow does nothing. */
type StalledRecord = { _id: string; tenant_id?: string | null };

/** The number of records on which the watchdog has raised attention, and the first of them. */
export type RaisedStalls = { raised: number; records: StalledRecord[] };

/** The field that every progress of a workflow changes. A start by the dispatcher alone leaves it as the start has set it. */
type ProgressField = 'next_check_at' | 'next_charge_at';

/** The value of the progress field. The dispatcher's claim of a record is no progress. */
const progressOf = (field: ProgressField) =>
  field === 'next_check_at' ? checkWithoutClaim : `$${field}`;

/** The kind of a record, as far as the watchdog needs it. */
type StallRules = {
  /** The field from which the time without an outcome counts. */
  acceptedField: string;
  /** Records that a workflow must bring to an end. */
  open: Document;
  progressField?: ProgressField;
};

/**
 * The note on a record that the dispatcher has started its workflow: since when and how often without an effect. `progress`
 * is the value of the progress field that this start leaves.
 */
export function startedWithoutEffect(
  now: Date,
  next: Document | string,
  progressField: ProgressField = 'next_check_at',
): Document {
  const same = { $eq: ['$stalled.progress', progressOf(progressField)] };
  return {
    since: { $cond: [same, '$stalled.since', now] },
    starts: { $cond: [same, { $add: ['$stalled.starts', 1] }, 1] },
    progress: next,
  };
}

/**
 * The note on a record whose workflow is meant to do nothing at present. The watchdog takes it for progress: it clears its
 * attention and the note.
 */
export const noStall = (now: Date): Document => ({ since: now, starts: 0, progress: null });

/**
 * Finds records of a collection whose workflow does nothing, from the database alone: their workflow was started again and
 * again without an effect, or their check has been due for long, because Temporal or the dispatcher is away. A record that
 * makes progress is never among them.
 */
export function stallsOf<R extends { _id: string }>(
  collection: Collection<R>,
  { acceptedField, open, progressField = 'next_check_at' }: StallRules,
  { clock, stallTimeoutMs }: { clock: () => Date; stallTimeoutMs: number },
) {
  const records = collection as unknown as Collection;
  const slackMs = MAX_STALL_TIMEOUTS * stallTimeoutMs;
  const progress = progressOf(progressField);
  const isDate = { $type: 'date' } as const;
  return {
    /**
     * Raises attention on stalled records that were accepted longer ago than `attentionAfterMs` and a slack. Returns their
     * number, and the first of them.
     */
    async raiseStalled(attentionAfterMs: number): Promise<RaisedStalls> {
      const now = clock();
      const before = { $lt: new Date(now.getTime() - slackMs), ...isDate };
      const overdue = { next_check_at: before };
      const fruitless = {
        'stalled.since': before,
        'stalled.starts': { $gte: FRUITLESS_STARTS },
        next_check_at: isDate,
        $expr: { $eq: ['$stalled.progress', progress] },
      };
      const filter: Filter<Document> = {
        ...open,
        attention: null,
        [acceptedField]: { $lt: new Date(now.getTime() - attentionAfterMs - slackMs) },
        $or: [overdue, fruitless],
      };
      const raised = await updateEach(records, filter, [
        {
          $set: {
            attention: { since: now, reason: STALLED },
            stalled: {
              since: { $ifNull: ['$stalled.since', '$next_check_at'] },
              starts: { $ifNull: ['$stalled.starts', 0] },
              progress,
            },
            ...versionAndTimeline(now, 'attention_raised'),
          },
        },
      ]);
      return { raised, records: raised > 0 ? await raisedAt(records, now) : [] };
    },

    /** Forgets stalls that are over, with their attention. */
    async clearStalled(): Promise<void> {
      const over = { 'stalled.since': isDate, $expr: { $ne: ['$stalled.progress', progress] } };
      const raised = { ...over, 'attention.reason': STALLED };
      await updateEach(records, raised, [
        { $set: { attention: null, ...versionAndTimeline(clock(), 'attention_cleared') } },
        { $unset: 'stalled' },
      ]);
      await updateEach(records, over, [{ $set: { version: nextVersion } }, { $unset: 'stalled' }]);
    },
  };
}

/** Records that `raiseStalled` names. */
const MAX_NAMED = 100;

/** Records with the watchdog's attention since this time. */
const raisedAt = (records: Collection, since: Date): Promise<StalledRecord[]> =>
  records
    .find(
      { 'attention.since': since, 'attention.reason': STALLED },
      { projection: { timeline: 0 }, ...acrossTenants('loop') },
    )
    .limit(MAX_NAMED)
    .toArray() as unknown as Promise<StalledRecord[]>;

/** Records that are updated one by one if the validator refuses one of them. */
const MAX_ONE_BY_ONE = 1_000;
const REFUSED_BY_VALIDATOR = 121;

/** Updates many records and returns their number. One that the validator refuses does not keep the others back. */
async function updateEach(
  records: Collection,
  filter: Filter<Document>,
  update: Document[],
): Promise<number> {
  try {
    return (await records.updateMany(filter, update, acrossTenants('loop'))).modifiedCount;
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const found = await records
    .find(filter, { projection: { _id: 1, tenant_id: 1 }, ...acrossTenants('loop') })
    .limit(MAX_ONE_BY_ONE)
    .toArray();
  let updated = 0;
  for (const { _id, tenant_id } of found) {
    try {
      updated += (await records.updateOne({ ...filter, _id, tenant_id }, update)).modifiedCount;
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
  return updated;
}

const isRefused = (error: unknown): boolean =>
  error instanceof MongoError && error.code === REFUSED_BY_VALIDATOR;

/** A timeline entry for records that have a timeline, and the next version for those that have versions. */
function versionAndTimeline(now: Date, type: 'attention_raised' | 'attention_cleared') {
  const entry = timelineEntry(now, type, 'bursar', { detail: STALLED });
  const timeline = {
    $cond: [
      { $isArray: '$timeline' },
      { $concatArrays: ['$timeline', [{ $literal: entry }]] },
      '$$REMOVE',
    ],
  };
  return { version: nextVersion, timeline };
}
