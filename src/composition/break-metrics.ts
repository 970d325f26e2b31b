import type { Db, Document } from 'mongodb';
import { Gauge, type Registry } from 'prom-client';
import { BREAK_KINDS, breaksCollection, OPEN_BREAKS } from '../core/reconciliation/break.js';
import { createReading } from '../platform/metrics/reading.js';
import type { Log } from '../shared/log.js';

const HOUR_MS = 3_600_000;
/** Upper bounds of the ages of open breaks. */
const AGES: readonly (readonly [string, number])[] = [
  ['under_1d', 24 * HOUR_MS],
  ['under_1w', 7 * 24 * HOUR_MS],
];
const OLDER = 'over_1w';
/** Breaks that are read. More of them are more than an operator can look at. */
const MAX_READ = 10_000;
const QUERY_WITHIN_MS = 1_000;

type Group = { kind: string; age: string; count: number; kobo: number };

async function readBreaks(db: Db): Promise<Group[]> {
  const age = { $subtract: [new Date(), '$opened_at'] };
  const name = AGES.toReversed().reduce<Document | string>(
    (older, [each, ms]) => ({ $cond: [{ $lt: [age, ms] }, each, older] }),
    OLDER,
  );
  return db
    .collection(breaksCollection.name, { readConcern: { level: 'local' } })
    .aggregate<Group>(
      [
        { $match: { status: 'open' } },
        { $limit: MAX_READ },
        {
          $group: {
            _id: { kind: '$kind', age: name },
            count: { $sum: 1 },
            kobo: { $sum: { $toDouble: '$amount_minor' } },
          },
        },
        { $project: { _id: 0, kind: '$_id.kind', age: '$_id.age', count: 1, kobo: 1 } },
      ],
      { hint: OPEN_BREAKS, maxTimeMS: QUERY_WITHIN_MS },
    )
    .toArray();
}

/** Registers the open breaks and their money, by kind and age. Every worker reports the same. */
export function measureBreaks(
  registry: Registry,
  { db, log, readEveryMs }: { db: Db; log: Log; readEveryMs?: number },
): void {
  const breaks = createReading({
    read: () => readBreaks(db),
    log,
    ...(readEveryMs !== undefined && { readEveryMs }),
  });
  const gauge = (name: string, help: string, value: (group: Group | undefined) => number) =>
    new Gauge({
      name,
      help: `${help}, counted up to ${MAX_READ} breaks.`,
      labelNames: ['kind', 'age'],
      registers: [registry],
      async collect() {
        const groups = (await breaks()).value ?? [];
        for (const kind of BREAK_KINDS) {
          for (const age of [...AGES.map(([each]) => each), OLDER]) {
            const found = groups.find((each) => each.kind === kind && each.age === age);
            this.set({ kind, age }, value(found));
          }
        }
      },
    });
  gauge(
    'bursar_reconciliation_breaks',
    'Open differences between Bursar and its providers',
    (group) => group?.count ?? 0,
  );
  gauge(
    'bursar_reconciliation_breaks_kobo',
    'Money at stake in open differences between Bursar and its providers',
    (group) => group?.kobo ?? 0,
  );
}
