import * as fc from 'fast-check';
import {
  firstPeriodAt,
  nextPeriod,
  periodStart,
  zoneName,
} from '../../src/capabilities/recurring-charges/record.js';
import { INTERVALS, MAX_INTERVAL_COUNT } from '../../src/capabilities/recurring-charges/record.js';
import { recurringCharge } from '../support/recurring.js';

const ZONES = [
  'Africa/Lagos',
  'UTC',
  'America/New_York',
  'Europe/London',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Asia/Kathmandu',
];

const from = (start: string, changes: Parameters<typeof recurringCharge>[0] = {}) =>
  recurringCharge({ start_at: new Date(start), ...changes });

const starts = (recurring: ReturnType<typeof from>, periods: number[]) =>
  periods.map((period) => periodStart(recurring, period).toISOString().slice(0, 16));

describe('the start of a period', () => {
  test('on the 31st: the last day of each month, and the 31st again', () => {
    expect(starts(from('2026-01-31T08:00:00Z'), [0, 1, 2, 3, 4, 13, 25])).toEqual([
      '2026-01-31T08:00',
      '2026-02-28T08:00',
      '2026-03-31T08:00',
      '2026-04-30T08:00',
      '2026-05-31T08:00',
      '2027-02-28T08:00',
      '2028-02-29T08:00',
    ]);
  });

  test('on 29 February: the 28th in years without one, and the 29th again', () => {
    const yearly = from('2024-02-29T08:00:00Z', { interval: 'year' });
    expect(starts(yearly, [1, 4, 5])).toEqual([
      '2025-02-28T08:00',
      '2028-02-29T08:00',
      '2029-02-28T08:00',
    ]);
  });

  test('the date is the one of the time zone, not of UTC', () => {
    // Half past midnight of the 31st there.
    const monthly = from('2026-01-30T23:30:00Z', { timezone: 'Africa/Lagos' });
    expect(starts(monthly, [1, 2])).toEqual(['2026-02-27T23:30', '2026-03-30T23:30']);
  });

  test('a time that the clocks skip is later by what they skip, that day alone', () => {
    const skipped = from('2026-03-07T07:30:00Z', { interval: 'day', timezone: 'America/New_York' });
    expect(starts(skipped, [0, 1, 2])).toEqual([
      '2026-03-07T07:30', // 02:30
      '2026-03-08T07:30', // 03:30, for there is no 02:30
      '2026-03-09T06:30', // 02:30
    ]);
  });

  test('of a time that the clocks show twice it is the first', () => {
    const twice = from('2026-10-31T05:30:00Z', { interval: 'day', timezone: 'America/New_York' });
    expect(starts(twice, [0, 1, 2])).toEqual([
      '2026-10-31T05:30', // 01:30
      '2026-11-01T05:30', // 01:30, an hour before the other one
      '2026-11-02T06:30', // 01:30
    ]);
  });

  test('any rhythm: the first begins at the start, each later one later, at the local date that is so many intervals on', () => {
    fc.assert(
      fc.property(rhythm, fc.integer({ min: 1, max: 400 }), (given, period) => {
        expect(periodStart(given, 0)).toEqual(given.start_at);
        const [before, at] = [periodStart(given, period - 1), periodStart(given, period)];
        expect(at.getTime()).toBeGreaterThan(before.getTime());
        expect(localDate(at, given.timezone)).toBe(dateOf(given, period));
      }),
    );
  });

  test('any rhythm: the first period at a time is the one that counting finds', () => {
    fc.assert(
      fc.property(rhythm, fc.nat(60), fc.nat(60), fc.integer(), (given, begin, target, off) => {
        const at = new Date(periodStart(given, target).getTime() + (off % 2));
        let counted = begin;
        while (periodStart(given, counted) < at) counted += 1;
        expect(firstPeriodAt(given, at, begin)).toBe(counted);
      }),
    );
  });
});

describe('the next period', () => {
  test('none at the end or after it, and none beyond the count', () => {
    const start = '2026-01-31T08:00:00Z';
    const ending = from(start, { end_at: new Date('2026-03-31T08:00:00Z') });
    expect(nextPeriod(ending, 1)).toMatchObject({ period: 1 });
    expect(nextPeriod(ending, 2)).toBeNull();
    expect(nextPeriod(from(start, { count: 2 }), 1)).toMatchObject({ period: 1 });
    expect(nextPeriod(from(start, { count: 2 }), 2)).toBeNull();
  });

  test('those that begin in a pause are passed by, its beginning among them and its end not', () => {
    const daily = from('2026-01-01T08:00:00Z', {
      interval: 'day',
      pauses: [
        { from: new Date('2026-01-03T08:00:00Z'), until: new Date('2026-01-06T08:00:00Z') },
        { from: new Date('2026-01-06T09:00:00Z'), until: new Date('2026-01-06T10:00:00Z') },
      ],
    });
    const charged = [];
    for (let next = nextPeriod(daily, 0); next && next.period < 8;) {
      charged.push(next.period);
      next = nextPeriod(daily, next.period + 1);
    }
    expect(charged).toEqual([0, 1, 5, 6, 7]);
  });
});

test('a zone is written as it is called, whatever case it came in; an offset is none', () => {
  expect(zoneName('africa/lagos')).toBe('Africa/Lagos');
  expect(zoneName('america/port-au-prince')).toBe('America/Port-au-Prince');
  for (const name of ['+01:00', 'Africa/Abuja', '', 'Z', 'Africa/Lagos ']) {
    expect(zoneName(name)).toBeNull();
  }
});

const rhythm = fc
  .record({
    interval: fc.constantFrom(...INTERVALS),
    timezone: fc.constantFrom(...ZONES),
    seconds: fc.integer({ min: 1_780_000_000, max: 1_950_000_000 }),
    count: fc.nat(),
  })
  .map(({ interval, timezone, seconds, count }) =>
    recurringCharge({
      interval,
      timezone,
      interval_count: (count % MAX_INTERVAL_COUNT[interval]) + 1,
      start_at: new Date(seconds * 1000),
    }),
  );

type Rhythm = ReturnType<typeof recurringCharge>;

const localDate = (at: Date, timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(at);

/** The same by hand: days are counted, months and years are numbered. */
function dateOf({ start_at: start, timezone, interval, interval_count: count }: Rhythm, k: number) {
  const [year = 0, month = 0, day = 0] = localDate(start, timezone).split('-').map(Number);
  const days = { day: 1, week: 7, month: 0, year: 0 }[interval] * count * k;
  if (days > 0) return new Date(Date.UTC(year, month - 1, day + days)).toISOString().slice(0, 10);
  const months = { day: 0, week: 0, month: 1, year: 12 }[interval] * count * k;
  const lastDay = new Date(Date.UTC(year, month + months, 0));
  const within = Math.min(day, lastDay.getUTCDate());
  const at = Date.UTC(lastDay.getUTCFullYear(), lastDay.getUTCMonth(), within);
  return new Date(at).toISOString().slice(0, 10);
}
