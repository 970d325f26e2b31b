import type { Db, Document, Filter } from 'mongodb';
import type { Registry } from 'prom-client';
import type { Log } from '../../shared/log.js';
import { addGauge } from './gauge.js';
import { createReading } from './reading.js';
import { checkWithoutClaim } from '../database/claims.js';
import { acrossTenants } from '../database/tenant-filters.js';

/** Upper bound of every count: a count of this size means "at least". */
const MAX_COUNTED = 10_000;
const QUERY_WITHIN_MS = 1_000;
/** A claim ends after this, if the settings do not say otherwise. */
const CLAIMED_FOR_MS = 30_000;

/** Describes how a backlog is read: always through an index, and only its first records. */
export type BacklogQuery = {
  collection: string;
  match: (now: Date, claimedForMs: number) => Filter<Document>;
  /** The index to use, by key or by name. Without it the query fails instead of scanning the collection. */
  index: string | Record<string, 1>;
  /** The field that orders the index: counting stops after the first `MAX_COUNTED` records. */
  order: string;
  /** The field with the time since which a record is in the backlog. */
  since: string;
  /** The records are claimed while a process works on them; the time without the claim counts, if it has passed. */
  areClaimed?: true;
};

const hasDate = { $type: 'date' };

/** Records that wait for an operator. */
export function attentionBacklog(collection: string): BacklogQuery {
  const since = 'attention.since';
  const match = () => ({ [since]: hasDate });
  return { collection, match, index: { [since]: 1 }, order: since, since };
}

/**
 * Records whose next check is overdue: the dispatcher has to start their workflows. Those that a dispatcher has claimed count too:
 * while Temporal is away, it claims them again and again.
 */
export function overdueBacklog(collection: string): BacklogQuery {
  const match = (now: Date, claimedForMs: number) => ({
    next_check_at: { $lt: new Date(now.getTime() + claimedForMs), ...hasDate },
  });
  return {
    collection,
    match,
    index: { next_check_at: 1 },
    order: 'next_check_at',
    since: 'next_check_at',
    areClaimed: true,
  };
}

/** The aggregation that counts a backlog and finds its oldest record. */
export function backlogPipeline(
  { match, order, since, areClaimed }: BacklogQuery,
  now: Date,
  claimedForMs = CLAIMED_FOR_MS,
): Document[] {
  const at = areClaimed ? checkWithoutClaim : `$${since}`;
  return [
    { $match: match(now, claimedForMs) },
    { $sort: { [order]: 1 } },
    { $limit: MAX_COUNTED },
    ...(areClaimed ? [{ $match: { $expr: { $lt: [at, now] } } }] : []),
    { $group: { _id: null, count: { $sum: 1 }, oldest: { $min: at } } },
  ];
}

type Size = { backlog: string; count: number; oldest: Date | null };

async function readBacklog(
  db: Db,
  backlog: string,
  query: BacklogQuery,
  claimedForMs: number | undefined,
): Promise<Size> {
  const [found] = await db
    .collection(query.collection, { readConcern: { level: 'local' } })
    .aggregate<{ count: number; oldest: Date }>(backlogPipeline(query, new Date(), claimedForMs), {
      hint: query.index,
      maxTimeMS: QUERY_WITHIN_MS,
      ...acrossTenants('report'),
    })
    .toArray();
  return { backlog, count: found?.count ?? 0, oldest: found?.oldest ?? null };
}

/**
 * Registers gauges of all backlogs. They are read on a scrape, at most every few seconds. While the database is away or
 * slow, a scrape gets the last reading, and `bursar_up` is 0.
 */
export function measureBacklogs(
  registry: Registry,
  {
    db,
    log,
    backlogs,
    readEveryMs,
    claimedForMs,
  }: {
    db: Db;
    log: Log;
    backlogs: Readonly<Record<string, BacklogQuery>>;
    readEveryMs?: number;
    /** The longest time for which the dispatcher claims a record. */
    claimedForMs?: number;
  },
): void {
  const refresh = createReading({
    read: () =>
      Promise.all(
        Object.entries(backlogs).map(([name, query]) => readBacklog(db, name, query, claimedForMs)),
      ),
    log,
    ...(readEveryMs !== undefined && { readEveryMs }),
  });

  const each = async (value: (size: Size) => number) => {
    const sizes = (await refresh()).value ?? [];
    return Object.fromEntries(sizes.map((size) => [size.backlog, value(size)]));
  };
  addGauge(registry, {
    name: 'bursar_up',
    help: '1 if the last query of the backlogs succeeded; while 0, the backlogs keep their last values.',
    label: 'dependency',
    read: async () => ({ mongodb: (await refresh()).up ? 1 : 0 }),
  });
  addGauge(registry, {
    name: 'bursar_backlog_records',
    help: `Waiting records in the whole deployment, counted up to ${MAX_COUNTED}.`,
    label: 'backlog',
    read: () => each(({ count }) => count),
  });
  addGauge(registry, {
    name: 'bursar_backlog_oldest_seconds',
    help: 'Age of the oldest waiting record; 0 if there is none.',
    label: 'backlog',
    read: () => each(({ oldest }) => (oldest === null ? 0 : secondsSince(oldest))),
  });
}

const secondsSince = (when: Date) => Math.max(0, (Date.now() - when.getTime()) / 1000);
