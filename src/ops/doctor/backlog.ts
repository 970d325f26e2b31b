import type { Capability } from '../../core/capability.js';
import { capabilities, collectionsWith } from '../../composition/capabilities.js';
import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import { breaksCollection, OPEN_BREAKS } from '../../core/reconciliation/break.js';
import type { Db, Document } from 'mongodb';
import { duration, examine, pass, fail, type Check } from './check.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { backlogPipeline, overdueBacklog } from '../../platform/metrics/backlog.js';

/** The dispatcher checks every second, so records that are overdue by more than this have no dispatcher. */
const LATE_MS = 60_000;
const RECENT_MS = 24 * 60 * 60 * 1000;
/** Counting stops at this number. */
const MANY = 10_000;

const IS_DATE = { $type: 'date' } as const;
const NOT_READ = 'see the rows of MongoDB';
const LOOK = 'list them with bursar attention';
const UNATTENDED = 'no worker takes them: see the rows of the workers, and the log of the worker';

/** The backlogs of every capability and of webhooks, each as a row: overdue records, and records that wait for an operator. */
export function examineBacklog(
  db: Db,
  { now = new Date(), claimedForMs }: Partial<ClaimsAt> = {},
): Promise<Check[]> {
  const at = { now, claimedForMs };
  const rows = capabilities.flatMap((capability: Capability) => {
    const { name, listsAttention = true } = capability;
    const supervised = collectionsWith(nextCheckIndex, [capability]);
    return [
      ...(supervised.length > 0 ? [examineOverdue(db, at, name, supervised)] : []),
      ...collectionsWith(attentionIndex, [capability]).map((each, i) =>
        examineAttention(db, now, {
          row: i === 0 ? name : each.replaceAll('_', '-'),
          hint: i === 0 && listsAttention ? `list them with bursar ${name} list --attention` : LOOK,
          collection: each,
        }),
      ),
    ];
  });
  return Promise.all([
    ...rows,
    examineDeliveries(db, at),
    examine('webhooks: given up', NOT_READ, async () => {
      const dead = { status: 'dead' };
      const recent = { ...dead, 'attempts.at': { $gt: new Date(now.getTime() - RECENT_MS) } };
      const [total, lately] = [
        await count(db, 'webhook_deliveries', dead),
        await count(db, 'webhook_deliveries', recent),
      ];
      const detail = `${total}, ${lately} of them in the last 24 hours`;
      if (lately === 0) return pass(total === 0 ? 'none' : detail);
      return fail(detail, 'list them with bursar webhooks deliveries list --dead, then redeliver');
    }),
    examineParked(db, now),
    examineBreaks(db, now),
  ]);
}

/** Reports how long the oldest record of a capability has been overdue. */
function examineOverdue(
  db: Db,
  at: ClaimsAt,
  name: string,
  collections: readonly string[],
): Promise<Check> {
  return examine(`${name}: overdue`, NOT_READ, async () => {
    const each = collections.map((collection) => overdueBy(db, collection, at));
    const late = Math.max(...(await Promise.all(each)));
    if (late === 0) return pass('none');
    const detail = `the oldest for ${duration(late)}`;
    if (late < LATE_MS) return pass(detail);
    return fail(detail, UNATTENDED);
  });
}

function examineAttention(
  db: Db,
  now: Date,
  { row, hint, collection }: { row: string; hint: string; collection: string },
): Promise<Check> {
  return examine(`${row}: attention`, NOT_READ, async () => {
    const waiting = { 'attention.since': IS_DATE };
    const oldest = await first(db, collection, waiting, { 'attention.since': 1 });
    if (!oldest) return pass('none');
    const waited = duration(now.getTime() - Number(oldest.attention.since));
    const detail = `${await count(db, collection, waiting)} wait for an operator, the oldest for ${waited}`;
    return fail(detail, hint);
  });
}

/**
 * Reports deliveries that are not delivered. A delivery may wait for its receiver. One that is overdue, or whose endpoint
 * is, has no worker.
 */
function examineDeliveries(db: Db, at: ClaimsAt): Promise<Check> {
  return examine('webhooks: undelivered', NOT_READ, async () => {
    const open = { next_check_at: IS_DATE };
    const total = await count(db, 'webhook_deliveries', open);
    if (total === 0) return pass('none');
    const oldest = await first(db, 'webhook_deliveries', open, { created_at: 1 });
    const age = oldest ? since(oldest['created_at'], at.now) : 0;
    const lateness = ['webhook_deliveries', 'webhook_endpoints'].map((each) =>
      overdueBy(db, each, at),
    );
    const late = Math.max(...(await Promise.all(lateness)));
    const detail = `${total}, the oldest for ${duration(age)}`;
    if (late < LATE_MS) return pass(detail);
    const overdue = `${detail}; overdue for ${duration(late)}`;
    return fail(overdue, UNATTENDED);
  });
}

/** Reports endpoints that took nothing for days, so that their deliveries wait for an operator. */
function examineParked(db: Db, now: Date): Promise<Check> {
  return examine('webhooks: parked endpoints', NOT_READ, async () => {
    const parked = { parked_at: IS_DATE };
    const oldest = await first(db, 'webhook_endpoints', parked, { parked_at: 1 });
    if (!oldest) return pass('none');
    const waited = duration(now.getTime() - Number(oldest.parked_at));
    return fail(
      `${await count(db, 'webhook_endpoints', parked)}, the first one for ${waited}`,
      'list them with bursar webhooks endpoints list, tell their tenants, then resume or remove them',
    );
  });
}

/** Reports open differences between Bursar and its providers. */
function examineBreaks(db: Db, now: Date): Promise<Check> {
  return examine('reconciliation: breaks', NOT_READ, async () => {
    const name = breaksCollection.name;
    const open = { status: 'open' };
    const oldest = await first(db, name, open, { opened_at: 1 });
    if (!oldest) return pass('none');
    const kinds = await db
      .collection(name)
      .aggregate<{ _id: string; count: number }>(
        [
          { $match: open },
          { $limit: MANY },
          { $group: { _id: '$kind', count: { $sum: 1 } } },
          { $sort: { _id: 1 } },
        ],
        { hint: OPEN_BREAKS },
      )
      .toArray();
    const counts = kinds.map(({ _id, count: each }) => `${each} ${_id}`).join(', ');
    const age = duration(now.getTime() - Number(oldest['opened_at']));
    return fail(`${counts}; the oldest for ${age}`, 'list them with bursar breaks list');
  });
}

/** The time of a reading, and the longest time for which a process claims a record. */
type ClaimsAt = { now: Date; claimedForMs: number | undefined };

/**
 * Milliseconds for which the oldest record of a collection has been overdue; 0 if none is. A claim is no progress: a record that
 * is claimed again and again is overdue since its check before the claims.
 */
async function overdueBy(
  db: Db,
  collection: string,
  { now, claimedForMs }: ClaimsAt,
): Promise<number> {
  const backlog = overdueBacklog(collection);
  const [found] = await db
    .collection(collection)
    .aggregate<{ oldest: Date }>(backlogPipeline(backlog, now, claimedForMs), {
      hint: backlog.index,
      ...acrossTenants('report'),
    })
    .toArray();
  return found ? since(found.oldest, now) : 0;
}

const since = (time: unknown, now: Date): number => Math.max(0, now.getTime() - Number(time));

const first = (db: Db, collection: string, filter: Document, sort: Record<string, 1>) =>
  db
    .collection(collection)
    .findOne(filter, { sort, projection: { ...sort }, ...acrossTenants('report') });

const count = (db: Db, collection: string, filter: Document) =>
  db.collection(collection).countDocuments(filter, { limit: MANY, ...acrossTenants('report') });
