import {
  DAYS_OF_WEEK,
  MONTHS,
  type CalendarSpecDescription,
  type IntervalSpecDescription,
  type Range,
} from '@temporalio/client';
import { formatMajor } from '../../shared/money.js';
import { localStart, type RecurringCharge } from './record.js';
import { DAY_MS } from '../../shared/durations.js';

/** The times of a Schedule, as the server describes them. */
export type Spec = {
  calendars: CalendarSpecDescription[];
  intervals: IntervalSpecDescription[];
  timezone: string;
  startAt: Date;
  endAt?: Date;
};

/** The last year of the server's calendars. */
const LAST_YEAR = 2100;
/** Days of each month, without 29 February. */
const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The times at which the Schedule fires, in the server's own form, so that both can be compared. They are exactly the
 * starts of periods if a calendar can express them. If not, the Schedule also fires on other days, and it never fires at
 * a time that the clocks skip. Both are harmless: the record decides what is due, and recovery finds overdue periods.
 */
export function specOf(recurring: RecurringCharge): Spec {
  const { interval, interval_count: count, timezone, start_at: startAt, end_at: endAt } = recurring;
  const spec = { calendars: [], intervals: [], timezone, startAt, ...(endAt && { endAt }) };
  if (interval === 'month' || interval === 'year') {
    return { ...spec, calendars: monthly(recurring, interval === 'year' ? 12 * count : count) };
  }
  if (count === 1 || hasChangingClocks(recurring)) {
    return { ...spec, calendars: [daily(recurring)] };
  }
  const every = (interval === 'week' ? 7 : 1) * count * DAY_MS;
  return { ...spec, intervals: [{ every, offset: startAt.getTime() % every }] };
}

const hasChangingClocks = (recurring: RecurringCharge): boolean =>
  localStart(recurring).getTimeZoneTransition('next') !== null;

const only = <Unit>(value: Unit): Range<Unit> => ({ start: value, end: value, step: 1 });

function timeOfDay(recurring: RecurringCharge): CalendarSpecDescription {
  const { hour, minute, second } = localStart(recurring);
  return {
    second: [only(second)],
    minute: [only(minute)],
    hour: [only(hour)],
    dayOfMonth: [{ start: 1, end: 31, step: 1 }],
    month: [{ start: 'JANUARY', end: 'DECEMBER', step: 1 }],
    year: [],
    dayOfWeek: [{ start: 'SUNDAY', end: 'SATURDAY', step: 1 }],
    comment: '',
  };
}

/**
 * Every day, or every week on the weekday of the start. Serves any `interval_count`: the record decides which days are
 * due.
 */
function daily(recurring: RecurringCharge): CalendarSpecDescription {
  const time = timeOfDay(recurring);
  if (recurring.interval === 'day') return time;
  const weekday = DAYS_OF_WEEK[localStart(recurring).dayOfWeek % 7] ?? 'SUNDAY';
  return { ...time, dayOfWeek: [only(weekday)] };
}

/** A calendar for each day of the month on which a period can begin. In a shorter month that is its last day. */
function monthly(recurring: RecurringCharge, inMonths: number): CalendarSpecDescription[] {
  const time = timeOfDay(recurring);
  const { day, month: first, year } = localStart(recurring);
  // If the interval does not divide a year, the Schedule fires every month.
  const step = [inMonths, 12].find((months) => inMonths % months === 0 && 12 % months === 0) ?? 1;
  const everyYears = inMonths % 12 === 0 ? inMonths / 12 : 1;
  const months = MONTHS.map((name, i) => ({ name, days: Math.min(day, LENGTHS[i] ?? 31), i }));
  const meant = months.filter(({ i }) => (i + 1 - first) % step === 0);
  return [...new Set(meant.map(({ days }) => days))].flatMap((days) => {
    const month = meant.filter((one) => one.days === days).map(({ name }) => only(name));
    const calendar = { ...time, month };
    if (days === 28 && day > 28) return lastOfFebruary(calendar, year, everyYears);
    const years = everyYears === 1 ? [] : [{ start: year, end: LAST_YEAR, step: everyYears }];
    return [{ ...calendar, dayOfMonth: [only(days)], year: years }];
  });
}

/** One calendar for leap years, and one for the others. */
function lastOfFebruary(calendar: CalendarSpecDescription, first: number, everyYears: number) {
  const step = [1, 2, 4].map((times) => times * everyYears).find((years) => years % 4 === 0) ?? 4;
  const starts = Array.from({ length: step / everyYears }, (_, i) => first + i * everyYears);
  return [29, 28].flatMap((day) => {
    const year = starts
      .filter((start) => (start % 4 === 0) === (day === 29))
      .map((start) => ({ start, end: LAST_YEAR, step }));
    return year.length === 0 ? [] : [{ ...calendar, dayOfMonth: [only(day)], year }];
  });
}

const ORDINALS = ['th', 'st', 'nd', 'rd'];

/** The note of the Schedule in the Temporal UI. */
export function inWords(recurring: RecurringCharge): string {
  const { amount_minor: amount, currency, interval, interval_count: count } = recurring;
  const { status, timezone, paused_at: pausedAt } = recurring;
  const start = localStart(recurring);
  const last = start.day % 10;
  const ordinal = `${start.day}${(start.day > 10 && start.day < 14 ? null : ORDINALS[last]) ?? 'th'}`;
  const shorter = start.day > 28 ? ' (or the last day of a shorter month)' : '';
  const on = interval === 'month' ? ` on the ${ordinal}${shorter}` : '';
  const every = count === 1 ? `every ${interval}` : `every ${count} ${interval}s`;
  const since = start.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
  const what = `${currency} ${formatMajor(amount)} ${every}${on}, from ${since} ${timezone}.`;
  const how = 'Each run charges the periods that are due by its record, often none.';
  if (status !== 'paused') return `${what} ${how}`;
  return `Paused since ${pausedAt?.toISOString() ?? 'now'}: resume the recurring charge, not the Schedule. ${what}`;
}
