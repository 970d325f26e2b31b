import { Temporal } from 'temporal-polyfill';
import type { RecurringCharge } from './recurring-charge.js';

type Rhythm = Pick<RecurringCharge, 'start_at' | 'interval' | 'interval_count' | 'timezone'>;
type BillingSchedule = Rhythm & Pick<RecurringCharge, 'end_at' | 'count' | 'pauses'>;

/** The start in local time of the recurring charge's zone. */
export const localStart = ({ start_at: at, timezone }: Rhythm): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone);

/**
 * Returns the start of a period: a number of intervals after the first start, in the local calendar, at the same time
 * of day. It is always counted from the first start, so a short month has no effect on later ones: the 31st becomes the
 * last day of each shorter month, and 29 February returns. A local time that does not exist moves forward by the length
 * of the gap. Of a local time that occurs twice, the first is used.
 */
export function periodStart(rhythm: Rhythm, period: number): Date {
  const intervals = rhythm.interval_count * period;
  const begins = localStart(rhythm).add({ [`${rhythm.interval}s`]: intervals });
  return new Date(begins.epochMilliseconds);
}

/** Returns the first period, not before `from`, that begins at `at` or later. */
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

/** Returns the next period to charge, not before `from`, with its time. Null if no period is left. */
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

/** Returns the zone's name in its canonical case, or null if there is no such zone. */
export function zoneName(name: string): string | null {
  // An offset is refused, because it has no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return null;
  }
}
