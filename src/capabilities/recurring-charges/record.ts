import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { Temporal } from 'temporal-polyfill';

/** All statuses of a recurring charge. */
export const RECURRING_STATUSES = ['active', 'paused', 'past_due', 'ended', 'cancelled'] as const;
/** The status of a recurring charge. */
export type RecurringStatus = (typeof RECURRING_STATUSES)[number];

/** The units of a period. */
export const INTERVALS = ['day', 'week', 'month', 'year'] as const;
/** The unit of a period. */
export type Interval = (typeof INTERVALS)[number];

/** Limits of `interval_count`: no period is longer than three years. */
export const MAX_INTERVAL_COUNT = { day: 1_095, week: 156, month: 36, year: 3 } as const satisfies {
  [each in Interval]: number;
};

/** A pause. Periods that begin from `from` on and before `until` are skipped. */
export type Pause = { from: Date; until: Date };

/** An unpaid charge of a period: in progress, waiting for a retry, or failed. */
export type Unpaid = {
  charge_id: string;
  reference: string;
  period: number;
  status: 'open' | 'declined' | 'failed';
};

/** A recurring charge as it is stored. Amounts in kobo. Periods are counted from 0. */
export type RecurringCharge = {
  _id: string;
  tenant_id: string;
  version: number;
  /** Sequence number of the latest event. */
  event_sequence: number;
  payment_token_id: string;
  customer_id: string;
  amount_minor: bigint;
  currency: 'NGN';
  interval: Interval;
  interval_count: number;
  /** IANA name. Every period begins at the local time of day of `start_at`. */
  timezone: string;
  /** The start of the first period, in whole seconds, because Schedules have no fractions. */
  start_at: Date;
  /** No period begins at this time or later. */
  end_at: Date | null;
  /** The number of periods, skipped ones included. */
  count: number | null;
  /** It ends after so many failed periods in a row; null or missing: never. */
  max_failed_periods?: number | null;
  /** Failed periods since the latest one that was paid. Missing before the first. */
  failed_periods?: number;
  description: string | null;
  metadata: Record<string, unknown> | null;
  status: RecurringStatus;
  /** True from the end of the payment token until the recurring charge gets another one: it is past due meanwhile. */
  token_revoked: boolean;
  /** The first period that has been neither charged nor skipped, and its time. Null after the last one. */
  next_period: number;
  next_charge_at: Date | null;
  /** Periods that were charged. */
  charged_periods: number;
  /** All open charges, and the latest failed one until a later period is paid. */
  unpaid: Unpaid[];
  /** The reference of the charge that was paid last. */
  last_paid_reference: string | null;
  paused_at: Date | null;
  /** Pauses that are over and may lie before `next_charge_at`. */
  pauses: Pause[];
  /** The time of the next check of schedule and workflow by recovery; null if it has ended. */
  next_check_at: Date | null;
  /** Raised and cleared by the watchdog. */
  attention?: { since: Date; reason: string } | null;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
};

/** Returns true for a terminal status: nothing is charged any more. */
export const isOver = ({ status }: Pick<RecurringCharge, 'status'>): boolean =>
  status === 'ended' || status === 'cancelled';

/** Returns the charges that may still be paid or retried. */
export const openCharges = ({ unpaid }: Pick<RecurringCharge, 'unpaid'>): string[] =>
  unpaid.filter(({ status }) => status !== 'failed').map(({ charge_id: charge }) => charge);

/** Returns true if a period is due. A paused recurring charge has no due period. */
export const isDue = (
  { status, next_charge_at: nextAt }: Pick<RecurringCharge, 'status' | 'next_charge_at'>,
  now: Date,
): boolean => (status === 'active' || status === 'past_due') && nextAt !== null && nextAt <= now;

/** The id of the Temporal Schedule of a recurring charge. */
export const scheduleId = (id: string) => `recurring-charge/${id}`;
/** Temporal appends the time to the id of a run that a Schedule starts. */
export const renewalWorkflowId = (id: string) => `recurring-charge-renewal/${id}`;

/** The indexes of lists. Each has the complete sort order of its list. */
export const RECURRING_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
} as const;

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };

/** The collection of recurring charges. */
export const recurringCharges = collection<RecurringCharge>('recurring_charges', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'payment_token_id', 'amount_minor', 'next_period'],
    properties: {
      tenant_id: string,
      status: { enum: ['active', 'paused', 'past_due', 'ended', 'cancelled'] },
      amount_minor: { ...long, minimum: 1 },
      version: { bsonType: 'int' },
      next_period: { bsonType: 'int', minimum: 0 },
      charged_periods: { bsonType: 'int', minimum: 0 },
      failed_periods: { bsonType: 'int', minimum: 0 },
      unpaid: { bsonType: 'array' },
    },
  },
  indexes: [
    ...Object.values(RECURRING_INDEXES).map((key) => ({ key })),
    { key: { tenant_id: 1, payment_token_id: 1 } },
    ...supervisionIndexes,
  ],
});

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
