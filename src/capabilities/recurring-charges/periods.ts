import { Temporal } from 'temporal-polyfill';
import type { RecurringCharge } from './recurring-charge.js';

type Rhythm = Pick<RecurringCharge, 'start_at' | 'interval' | 'interval_count' | 'timezone'>;
type BillingSchedule = Rhythm & Pick<RecurringCharge, 'end_at' | 'count' | 'pauses'>;

/** The beginning as clocks on the wall show it there. */
export const localStart = ({ start_at: at, timezone }: Rhythm): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone);

/**
 * The start of a period: a number of intervals after the start, by the local calendar, at the start's time of day. It is
 * always counted from the start, so that a short month has no effect on later ones: the 31st is the last day of each month, and
 * 29 February comes again. A time that the clocks skip is later by what they skip; of a time that they show twice it
 * is the first.
 */
export function periodStart(rhythm: Rhythm, period: number): Date {
  const intervals = rhythm.interval_count * period;
  const begins = localStart(rhythm).add({ [`${rhythm.interval}s`]: intervals });
  return new Date(begins.epochMilliseconds);
}

/** The first period from this one on that begins at `at` or later. */
export function firstPeriodAt(rhythm: Rhythm, at: Date, from = 0): number {
  const isBefore = (period: number) => periodStart(rhythm, period) < at;
  if (!isBefore(from)) return from;
  let [before, step] = [from, 1];
  for (; isBefore(before + step); step *= 2) before += step;
  let notBefore = before + step;
  while (notBefore - before > 1) {
    const middle = (before + notBefore) >> 1;
    if (isBefore(middle)) before = middle;
    else notBefore = middle;
  }
  return notBefore;
}

/** The first period from this one on that is to be charged, and when; null where none is left. */
export function nextPeriod(
  schedule: BillingSchedule,
  from: number,
): { period: number; at: Date } | null {
  for (let period = from; ;) {
    if (schedule.count !== null && period >= schedule.count) return null;
    const at = periodStart(schedule, period);
    if (schedule.end_at !== null && at >= schedule.end_at) return null;
    const pause = schedule.pauses.find(({ from: since, until }) => since <= at && at < until);
    if (!pause) return { period, at };
    period = firstPeriodAt(schedule, pause.until, period + 1);
  }
}

/** The zone's name as it is written, whatever case it came in; null if there is no such zone. */
export function zoneName(name: string): string | null {
  // An offset is no zone: it has no clocks that change.
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return null;
  }
}
