import type { Collection, Document, Filter } from 'mongodb';
import { updateAccepted } from '../../platform/database/accepted-updates.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { checkWithoutClaim, nextVersion } from '../../platform/database/claims.js';
import { timelineEntry } from '../instructions/instruction.js';

/** The reason of attention for a record whose workflow does nothing. The watchdog raises it and clears it. */
export const STALLED = 'its workflow does not make progress';

/** Longest pause between two checks of a record, in stall timeouts. */
export const MAX_STALL_TIMEOUTS = 10;

/** A dispatcher's clock may be ahead of the server's by this much: its claims end later. */
const CLOCK_SKEW_MS = 5_000;

/** Starts without an effect that show that a workflow does nothing: the first may only have found workers behind. */
const FRUITLESS_STARTS = 2;

/** A record whose workflow does nothing. */
type StalledRecord = { _id: string; tenant_id?: string | null };

/** The number of records on which the watchdog has raised attention, the first of them, and whether there may be more. */
export type RaisedStalls = { raised: number; records: StalledRecord[]; more: boolean };

/** The field that every progress of a workflow changes. A start by the dispatcher alone leaves it as the start has set it. */
type ProgressField = 'next_check_at' | 'next_charge_at';

/** The value of the progress field. The dispatcher's claim of a record is no progress, and makes no check due later. */
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

/** True for a record with the watchdog's attention; an expression for an update. */
const hasStalled = { $eq: ['$attention.reason', { $literal: STALLED }] };

/**
 * The note on a record that the dispatcher has started its workflow, and how often without an effect. From the second such
 * start on it has `since`, the time of the first: by this field the watchdog finds it. A record that a first start has set in
 * motion is not written again. `progress` is the value of the progress field that this start leaves.
 */
export function startedWithoutEffect(
  now: Date,
  next: Document | string,
  progressField: ProgressField = 'next_check_at',
): Document {
  return {
    $cond: [
      { $eq: ['$stalled.progress', progressOf(progressField)] },
      {
        since: { $ifNull: ['$stalled.since', '$stalled.started'] },
        starts: { $add: ['$stalled.starts', 1] },
        progress: next,
      },
      {
        // Attention that is over already is found by it too.
        since: { $cond: [hasStalled, now, '$$REMOVE'] },
        started: now,
        starts: 1,
        progress: next,
      },
    ],
  };
}

/**
 * The note on a record whose workflow is meant to do nothing at present. The watchdog takes it for progress: it clears its
 * attention and the note.
 */
export const noStall = (now: Date): Document => ({
  $cond: [
    { $eq: [{ $type: '$stalled.since' }, 'date'] },
    { since: now, starts: 0, progress: null },
    '$$REMOVE',
  ],
});

/** The fields of a record whose stall is over, for an update: without the note, and without the watchdog's attention. */
export const withoutStall = (now: Date): Document => ({
  attention: { $cond: [hasStalled, null, '$attention'] },
  stalled: '$$REMOVE',
  ...versionAndTimeline(now, 'attention_cleared', hasStalled),
});

/**
 * Finds records of a collection whose workflow does nothing, from the database alone: their workflow was started again and
 * again without an effect, or their check has been due for long, because Temporal or the dispatcher is away. A record that
 * makes progress is never among them.
 */
export function stallsOf<R extends { _id: string }>(
  collection: Collection<R>,
  { acceptedField, open, progressField = 'next_check_at' }: StallRules,
  { clock = () => new Date(), stallTimeoutMs }: { clock?: () => Date; stallTimeoutMs: number },
) {
  const records = collection as unknown as Collection;
  const slackMs = MAX_STALL_TIMEOUTS * stallTimeoutMs;
  const progress = progressOf(progressField);
  const isDate = { $type: 'date' } as const;
  return {
    /**
     * Raises attention on stalled records that were accepted longer ago than `attentionAfterMs` and a slack. Returns their
     * number, and the first of them. `now`: the time of the database server where clocks may be wrong: one
     * that is ahead finds every check due for long.
     */
    async raiseStalled(attentionAfterMs: number, now = clock()): Promise<RaisedStalls> {
      const before = { $lt: new Date(now.getTime() - slackMs), ...isDate };
      const overdue = { next_check_at: before };
      // While Temporal hangs, one dispatcher after the other claims it. The first condition bounds the part of the index.
      const claimed = {
        next_check_at: { $lt: new Date(now.getTime() + stallTimeoutMs + CLOCK_SKEW_MS), ...isDate },
        'claim.from': before,
        $expr: { $eq: ['$claim.until', '$next_check_at'] },
      };
      const fruitless = {
        'stalled.since': before,
        'stalled.starts': { $gte: FRUITLESS_STARTS },
        next_check_at: isDate,
        $expr: { $eq: ['$stalled.progress', progress] },
      };
      const filter: Filter<Document> = {
        attention: null,
        [acceptedField]: { $lt: new Date(now.getTime() - attentionAfterMs - slackMs) },
        $and: [open, { $or: [overdue, claimed, fruitless] }],
      };
      const { updated, seen, more } = await updatePages(records, filter, [
        {
          $set: {
            attention: { since: now, reason: STALLED },
            stalled: {
              since: { $ifNull: ['$stalled.since', checkWithoutClaim] },
              starts: { $ifNull: ['$stalled.starts', 0] },
              progress,
            },
            ...versionAndTimeline(now, 'attention_raised'),
          },
        },
      ]);
      // The number does not have those of a page that was updated up to a refused record.
      const named = seen > 0 ? await raisedAt(records, now) : [];
      return { raised: Math.max(updated, named.length), records: named, more };
    },

    /** Forgets stalls that are over, with their attention. True if there may be more of them. `now` as in `raiseStalled`. */
    async clearStalled(now = clock()): Promise<boolean> {
      const over = { 'stalled.since': isDate, $expr: { $ne: ['$stalled.progress', progress] } };
      const { more } = await updatePages(records, over, [{ $set: withoutStall(now) }]);
      return more;
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

/** Records that one update changes, and those that one look changes at most. */
const PAGE = 500;
const MAX_A_LOOK = 10_000;

/** Updates the records that a filter finds, page by page, up to the limit. `more`: it was reached, and some have changed. */
async function updatePages(
  records: Collection,
  where: Filter<Document>,
  update: Document[],
): Promise<{ updated: number; seen: number; more: boolean }> {
  const collection = records as unknown as Collection<Document & { _id: string }>;
  const found = records
    .find(where, { projection: { _id: 1 }, batchSize: PAGE, ...acrossTenants('loop') })
    .limit(MAX_A_LOOK);
  let [seen, updated] = [0, 0];
  const updatePage = async (ids: string[]) => {
    seen += ids.length;
    updated += (await updateAccepted(collection, { ids, where }, update)).updated;
  };
  let ids: string[] = [];
  for await (const { _id } of found) {
    ids.push(String(_id));
    if (ids.length < PAGE) continue;
    await updatePage(ids);
    ids = [];
  }
  await updatePage(ids);
  return { updated, seen, more: seen === MAX_A_LOOK && updated > 0 };
}

/**
 * A timeline entry for records that have a timeline, and the next version for those that have versions. `only`: the condition
 * of the entry.
 */
function versionAndTimeline(
  now: Date,
  type: 'attention_raised' | 'attention_cleared',
  only: Document | true = true,
) {
  const entry = timelineEntry(now, type, 'bursar', { detail: STALLED });
  const timeline = {
    $cond: [
      { $and: [only, { $isArray: '$timeline' }] },
      { $concatArrays: ['$timeline', [{ $literal: entry }]] },
      '$timeline',
    ],
  };
  return { version: nextVersion, timeline };
}
