import type { ClientSession, Db, Filter } from 'mongodb';
import { DAY_MS } from '../../shared/durations.js';
import type { PortionAudit } from './audit-checks.js';
import { idsUnder } from './days.js';

/** Numbers of records by name, such as a status. */
type Counts = Readonly<Record<string, bigint>>;

/** The counts of a tenant in one month. `_id` is `<tenant>/<YYYY-MM>`; keys of `days` are two digits. */
type MonthDocument = { _id: string; days: Record<string, Counts> };

/** Counts that are stored by month and day, and the records that they are about. */
type CountedRecords<Month extends MonthDocument> = {
  /** The collection of the counts. */
  name: string;
  /** The collection of the records. */
  records: string;
  /** The field of a record by which it is counted. */
  status: 'status' | 'state';
  /** The index of the tenant's records by this field and the time of their creation. */
  byStatus: Readonly<Record<string, 1 | -1>>;
  /** The counts of a whole month. */
  whole: (month: Month) => Counts;
  /** The stored counts of records with these statuses. By default the same. */
  counted?: (byStatus: Counts) => Counts;
};

/** So many records are counted at one moment, or those of one day if it has more. */
const MOST_COUNTED = 500_000n;

/** The last day of no month is later. */
const LAST_DAY = '31';

/**
 * Compares stored counts with the records, some days of one tenant at one moment, so that no snapshot has to last for all records of
 * a large tenant. The server counts; documents reach this process by days and statuses alone.
 */
export const auditCounts =
  <Month extends MonthDocument>(of: CountedRecords<Month>): PortionAudit =>
  async ({ db, session, tenantId }, after) => {
    const moment = { db, session, tenantId };
    const begin = await nextDay(moment, of, after);
    if (begin === null) return { next: null, problems: [] };
    const monthId = `${tenantId}/${begin.slice(0, 7)}`;
    const stored = (await monthsOf(db, of).findOne({ _id: monthId }, { session })) as Month | null;
    const last = lastDay(begin, stored);
    const counted = new Map<string, Counts>(
      Object.entries(stored?.days ?? {})
        .map(([day, counts]): [string, Counts] => [`${begin.slice(0, 7)}-${day}`, counts])
        .filter(([day]) => begin <= day && day <= last),
    );
    const real = await countDays(moment, of, begin, last);
    const days = [...new Set([...counted.keys(), ...real.keys()])];
    const expected = of.counted ?? ((byStatus: Counts) => byStatus);
    const problems = days.flatMap((day) => {
      const [has, is] = differences(counted.get(day) ?? {}, expected(real.get(day) ?? {}));
      if (has === is) return [];
      return [`${of.name}: ${tenantId}/${day} counts ${has}, the records are ${is}`];
    });
    // The first portion of a month.
    if (stored && after.slice(0, 7) < begin.slice(0, 7)) {
      const [has, is] = differences(of.whole(stored), sumOf(Object.values(stored.days)));
      if (has !== is) problems.push(`${of.name}: ${monthId} counts ${has}, its days ${is}`);
    }
    return { next: last, problems };
  };

type Moment = { db: Db; session: ClientSession; tenantId: string };

const monthsOf = (db: Db, { name }: Pick<CountedRecords<MonthDocument>, 'name'>) =>
  db.collection<MonthDocument>(name);

const startOf = (day: string) => new Date(`${day}T00:00:00.000Z`);
const endOf = (day: string) => new Date(startOf(day).getTime() + DAY_MS);

/** The first day after this one that has a count or a record; null if none has. */
async function nextDay(
  { db, session, tenantId }: Moment,
  of: Pick<CountedRecords<never>, 'name' | 'records'>,
  after: string,
): Promise<string | null> {
  const oldest = await db
    .collection<{ created_at: Date }>(of.records)
    .findOne(
      { tenant_id: tenantId, ...(after !== '' && { created_at: { $gte: endOfPortion(after) } }) },
      { session, sort: { created_at: 1, _id: 1 }, projection: { created_at: 1 } },
    );
  const months = await monthsOf(db, of)
    .find({ _id: { ...idsUnder(tenantId), $gte: `${tenantId}/${after.slice(0, 7)}` } }, { session })
    .sort({ _id: 1 })
    .limit(2)
    .toArray();
  const days = months.flatMap(({ _id, days: all }) => {
    const month = _id.slice(-7);
    const [first] = Object.keys(all)
      .map((day) => `${month}-${day}`)
      .filter((day) => day > after)
      .toSorted();
    if (first !== undefined) return [first];
    // A month without days may have a sum all the same.
    return month > after.slice(0, 7) ? [`${month}-01`] : [];
  });
  const [first] = [
    ...days,
    ...(oldest ? [oldest.created_at.toISOString().slice(0, 10)] : []),
  ].toSorted();
  return first ?? null;
}

/** The first moment after a portion, which may end with a day that its month does not have. */
function endOfPortion(after: string): Date {
  const [year = 0, month = 1] = after.split('-').map(Number);
  const nextMonth = new Date(Date.UTC(year, month, 1));
  const end = after.endsWith(LAST_DAY) ? nextMonth : endOf(after);
  return end < nextMonth ? end : nextMonth;
}

/** The last day of the portion that begins with this day. */
function lastDay(begin: string, stored: MonthDocument | null): string {
  const month = begin.slice(0, 7);
  let sum = 0n;
  for (const [day, counts] of Object.entries(stored?.days ?? {}).toSorted(byKey)) {
    if (`${month}-${day}` < begin) continue;
    const inDay = Object.values(counts).reduce((all, one) => all + one, 0n);
    if (sum > 0n && sum + inDay > MOST_COUNTED) return dayBefore(`${month}-${day}`);
    sum += inDay;
  }
  return `${month}-${LAST_DAY}`;
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
  a < b ? -1 : 1;

const dayBefore = (day: string) =>
  new Date(startOf(day).getTime() - DAY_MS).toISOString().slice(0, 10);

/** The records of these days by their status. */
async function countDays(
  { db, session, tenantId }: Moment,
  { records, status, byStatus }: Omit<CountedRecords<never>, 'whole' | 'counted' | 'name'>,
  first: string,
  last: string,
): Promise<Map<string, Record<string, bigint>>> {
  const created = { $gte: startOf(first), $lt: endOfPortion(last) };
  const filter: Filter<{ tenant_id: string; created_at: Date }> = {
    tenant_id: tenantId,
    created_at: created,
  };
  const day = { $dateToString: { date: '$created_at', format: '%Y-%m-%d' } };
  const groups = db.collection(records).aggregate<{
    _id: { day: string; status: string };
    count: number;
  }>([{ $match: filter }, { $group: { _id: { day, status: `$${status}` }, count: { $sum: 1 } } }], { session, hint: byStatus });
  const days = new Map<string, Record<string, bigint>>();
  for await (const { _id, count } of groups) {
    days.set(_id.day, { ...days.get(_id.day), [_id.status]: BigInt(count) });
  }
  return days;
}

/** The numbers of both that differ, in words; twice the same if none does. */
function differences(some: Counts, others: Counts): [string, string] {
  const names = [...new Set([...Object.keys(some), ...Object.keys(others)])];
  const differ = names.filter((name) => (some[name] ?? 0n) !== (others[name] ?? 0n)).toSorted();
  const inWords = (of: Counts) => differ.map((name) => `${of[name] ?? 0n} ${name}`).join(' and ');
  return [inWords(some), inWords(others)];
}

/** Adds counts up by their names. */
function sumOf(all: readonly Counts[]): Counts {
  const sum: Record<string, bigint> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0n) + count;
  }
  return sum;
}
