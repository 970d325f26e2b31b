import type { Db, Document } from 'mongodb';
import { Gauge, type Registry } from 'prom-client';
import { nextCheckIndex } from '../platform/database/indexes.js';
import { acrossTenants } from '../platform/database/tenant-filters.js';
import { createReading } from '../platform/metrics/reading.js';
import type { Log } from '../shared/log.js';
import { collectionsWith } from './capabilities.js';

/** Records of a collection that are read. More of them are more than an operator can look at. */
const MAX_READ = 10_000;
const QUERY_WITHIN_MS = 1_000;

/** Upper bounds of the ages of money that is held, in seconds. */
const AGES: readonly (readonly [string, number])[] = [
  ['under_1m', 60],
  ['under_1h', 3_600],
  ['under_1d', 86_400],
];
const OLDER = 'over_1d';

/** The amount that an open record holds of its tenant's money, by collection; an expression for an aggregation. */
const HELD: Readonly<Record<string, Document | string>> = {
  transfers: '$total_minor',
  bill_payments: '$total_minor',
  // A refund that returns a payment from suspense holds nothing in the wallet.
  refunds: { $cond: [{ $eq: ['$made_by', 'tenant'] }, '$amount_minor', 0] },
  card_authorizations: '$held_minor',
  card_operations: {
    $cond: [{ $in: ['$type', ['fund', 'jit_fund', 'auto_reload', 'unload']] }, '$amount_minor', 0],
  },
};

/** Collections whose records a workflow brings to an end. */
const COLLECTIONS = collectionsWith(nextCheckIndex);

type Sum = { collection: string; age: string; kobo: number };
type Unknowns = { collection: string; count: number; oldest: Date | null };

/** Of the open records of a collection: the money that they hold by age, and those that a provider has and has not ended. */
async function readOpen(db: Db, collection: string, now: Date) {
  const held = HELD[collection];
  const age = { $divide: [{ $subtract: [now, '$created_at'] }, 1000] };
  const group = AGES.toReversed().reduce<Document | string>(
    (older, [name, seconds]) => ({ $cond: [{ $lt: [age, seconds] }, name, older] }),
    OLDER,
  );
  const isUnknown = {
    $and: [{ $eq: ['$status', 'processing'] }, { $eq: [{ $type: '$first_submitted_at' }, 'date'] }],
  };
  const isHolding =
    collection === 'card_authorizations'
      ? { $gt: ['$held_minor', 0] }
      : { $in: ['$status', ['pending', 'processing']] };
  return db
    .collection(collection, { readConcern: { level: 'local' } })
    .aggregate<{ _id: string; kobo: number; unknown: number; oldest: Date | null }>(
      [
        { $match: { next_check_at: { $type: 'date' } } },
        { $limit: MAX_READ },
        {
          $group: {
            _id: group,
            kobo: {
              $sum: held === undefined ? 0 : { $cond: [isHolding, { $toDouble: held }, 0] },
            },
            unknown: { $sum: { $cond: [isUnknown, 1, 0] } },
            oldest: { $min: { $cond: [isUnknown, '$first_submitted_at', null] } },
          },
        },
      ],
      { hint: nextCheckIndex.key, maxTimeMS: QUERY_WITHIN_MS, ...acrossTenants('report') },
    )
    .toArray();
}

async function readMoney(db: Db): Promise<{ sums: Sum[]; unknowns: Unknowns[] }> {
  const now = new Date();
  const read = await Promise.all(
    COLLECTIONS.map(async (collection) => ({
      collection,
      groups: await readOpen(db, collection, now),
    })),
  );
  const ages = [...AGES.map(([name]) => name), OLDER];
  return {
    sums: read
      .filter(({ collection }) => collection in HELD)
      .flatMap(({ collection, groups }) =>
        ages.map((age) => ({
          collection,
          age,
          kobo: groups.find(({ _id }) => _id === age)?.kobo ?? 0,
        })),
      ),
    unknowns: read.map(({ collection, groups }) => {
      const times = groups.flatMap(({ oldest }) => (oldest === null ? [] : [oldest.getTime()]));
      return {
        collection,
        count: groups.reduce((sum, { unknown }) => sum + unknown, 0),
        oldest: times.length > 0 ? new Date(Math.min(...times)) : null,
      };
    }),
  };
}

/**
 * Registers the money that open records hold, by age, and the records whose outcome at a provider is unknown. Read from the
 * index of open records, at most every few seconds; every worker reports the same.
 */
export function measureMoney(
  registry: Registry,
  { db, log, readEveryMs }: { db: Db; log: Log; readEveryMs?: number },
): void {
  const registers = [registry];
  const money = createReading({
    read: () => readMoney(db),
    log,
    ...(readEveryMs !== undefined && { readEveryMs }),
  });
  void new Gauge({
    name: 'bursar_held_kobo',
    help: `Money of tenants that open records hold, by the age of the record; of at most ${MAX_READ} records of a collection.`,
    labelNames: ['collection', 'age'],
    registers,
    async collect() {
      for (const { collection, age, kobo } of (await money()).value?.sums ?? [])
        this.set({ collection, age }, kobo);
    },
  });
  void new Gauge({
    name: 'bursar_unknown_outcomes',
    help: 'Records that were submitted to a provider and have no final outcome.',
    labelNames: ['collection'],
    registers,
    async collect() {
      for (const { collection, count } of (await money()).value?.unknowns ?? [])
        this.set({ collection }, count);
    },
  });
  void new Gauge({
    name: 'bursar_unknown_outcome_oldest_seconds',
    help: 'Time since the first submission of the oldest of these records; 0 if there is none.',
    labelNames: ['collection'],
    registers,
    async collect() {
      for (const { collection, oldest } of (await money()).value?.unknowns ?? []) {
        const seconds = oldest === null ? 0 : (Date.now() - oldest.getTime()) / 1000;
        this.set({ collection }, Math.max(0, seconds));
      }
    },
  });
}
