import { z } from 'zod';
import {
  idempotencyKey,
  MAX_AMOUNT_MINOR,
  pageQuery,
  plainText,
  amountMinor,
  timestamp,
} from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { metadata } from '../../shared/metadata.js';
import { ALWAYS } from '../payment-tokens/index.js';
import {
  zoneName,
  INTERVALS,
  MAX_INTERVAL_COUNT,
  RECURRING_STATUSES,
  type Interval,
} from './record.js';

const MAX_COUNT = 10_000;

/** Fractions of a second are dropped, because Schedules have none. */
const instant = (description: string) =>
  z.iso
    .datetime({ offset: true, message: 'must be a time as 2026-12-31T08:00:00Z, with its offset' })
    .transform((text) => new Date(Math.floor(Date.parse(text) / 1000) * 1000))
    .meta({
      description,
      example: '2026-12-31T08:00:00Z',
      override: { type: 'string', format: 'date-time', pattern: undefined },
    });

/** The unit of a period. */
export const interval = z.enum(INTERVALS);

const recurringFields = {
  payment_token_id: idSchema('paymentToken').meta({
    description: 'The active payment token that is charged.',
  }),
  amount_minor: z
    .int()
    .min(1)
    .max(MAX_AMOUNT_MINOR)
    .meta({ description: 'Amount in kobo of each period.', example: 500_000 }),
  currency: z.literal('NGN').default('NGN'),
  interval: interval.meta({ description: 'Unit of a period.', example: 'month' }),
  interval_count: z.int().min(1).max(MAX_INTERVAL_COUNT.day).default(1).meta({
    description:
      'Number of intervals in a period. At most three years: 1095 days, 156 weeks, 36 months or 3 years.',
  }),
  timezone: z
    .string()
    .max(64)
    .default('Africa/Lagos')
    .transform((name, ctx) => {
      const zone = zoneName(name);
      if (zone !== null) return zone;
      ctx.addIssue({ code: 'custom', message: 'must be a time zone as "Africa/Lagos"' });
      return z.NEVER;
    })
    .meta({
      description: 'IANA name of the time zone. Periods follow its calendar and its time of day.',
      override: { type: 'string', maxLength: 64, default: 'Africa/Lagos' },
    }),
  start_at: instant(
    'When the first period begins and is charged. The default is now; not in the past, and within five years.',
  ).optional(),
  end_at: instant(
    'No period begins at this time or later; before 2101. Instead of `count`.',
  ).optional(),
  count: z
    .int()
    .min(1)
    .max(MAX_COUNT)
    .optional()
    .meta({ description: 'Number of periods. Instead of `end_at`.', example: 24 }),
  max_failed_periods: z.int().min(1).max(100).optional().meta({
    description:
      'The recurring charge ends after so many failed periods in a row. Left out: it never ends for that reason.',
    example: 3,
  }),
  description: plainText(200).optional().meta({
    description: 'Purpose of the recurring charge and of each of its charges.',
    example: 'Gold plan',
  }),
  metadata: metadata.optional(),
  idempotency_key: idempotencyKey.optional(),
};

/** The body of POST /payments/recurring-charges. Acceptance checks the rules that depend on the present time. */
export const createRecurringChargeBody = z
  .strictObject(recurringFields)
  .superRefine(checkRhythm, ALWAYS)
  .meta({
    id: 'NewRecurringCharge',
    description: 'A plan for charges of a saved payment method.',
    override: ({ jsonSchema }: { jsonSchema: object }) => {
      const tooLong = (each: Interval) => ({
        required: ['interval', 'interval_count'],
        properties: {
          interval: { const: each },
          interval_count: { minimum: MAX_INTERVAL_COUNT[each] + 1 },
        },
      });
      const never = [{ required: ['end_at', 'count'] }, ...INTERVALS.map(tooLong)];
      Object.assign(jsonSchema, { allOf: never.map((not) => ({ not })) });
    },
  });

/** The body of a request to create a recurring charge. */
export type CreateRecurringChargeBody = z.output<typeof createRecurringChargeBody>;

type Fields = z.output<z.ZodObject<typeof recurringFields>>;

function checkRhythm(body: Partial<Fields>, ctx: z.core.$RefinementCtx): void {
  const refuse = (field: string, message: string) =>
    ctx.addIssue({ code: 'custom', path: [field], message });
  const { interval: each, interval_count: times, start_at: start, end_at: end, count } = body;
  const most = each && MAX_INTERVAL_COUNT[each];
  if (most !== undefined && times !== undefined && times > most) {
    refuse('interval_count', `must be at most ${most} for ${each}s: three years`);
  }
  if (end !== undefined && count !== undefined) {
    refuse('count', 'must be left out where end_at is given');
  }
  if (start instanceof Date && end instanceof Date && end <= start) {
    refuse('end_at', 'must be after start_at');
  }
}

const { payment_token_id, amount_minor, end_at, count, max_failed_periods } = recurringFields;

/** The body of PATCH /payments/recurring-charges/{id}. */
export const changeRecurringChargeBody = z
  .strictObject({
    payment_token_id: payment_token_id.optional(),
    amount_minor: amount_minor.optional(),
    end_at: end_at.nullable().meta({
      description:
        'No period begins at this time or later; before 2101. Replaces a `count`. Null: no end.',
    }),
    count: count
      .nullable()
      .meta({ description: 'Number of periods. Replaces an `end_at`. Null: no end.' }),
    max_failed_periods: max_failed_periods.nullable().meta({
      description:
        'The recurring charge ends after so many failed periods in a row, counted from the latest paid one. Null: never.',
    }),
    idempotency_key: idempotencyKey.optional(),
  })
  .superRefine(checkChange, ALWAYS)
  .meta({
    id: 'RecurringChargeChange',
    description: 'The fields of a recurring charge that change.',
    override: ({ jsonSchema }: { jsonSchema: object }) => {
      Object.assign(jsonSchema, {
        not: { required: ['end_at', 'count'] },
        anyOf: CHANGEABLE.map((field) => ({ required: [field] })),
      });
    },
  });

/** The body of a request to change a recurring charge. */
export type ChangeRecurringChargeBody = z.output<typeof changeRecurringChargeBody>;

const CHANGEABLE = [
  'payment_token_id',
  'amount_minor',
  'end_at',
  'count',
  'max_failed_periods',
] as const;

function checkChange(
  body: Partial<Record<(typeof CHANGEABLE)[number], unknown>>,
  ctx: z.core.$RefinementCtx,
): void {
  if (CHANGEABLE.every((field) => body[field] === undefined)) {
    const message = `must have at least one of ${CHANGEABLE.join(', ')}`;
    ctx.addIssue({ code: 'custom', message });
  }
  if (body.end_at !== undefined && body.count !== undefined) {
    const message = 'must be left out where end_at is given';
    ctx.addIssue({ code: 'custom', path: ['count'], message });
  }
}

/** The query of GET /payments/recurring-charges. */
export const listRecurringChargesQuery = z.strictObject({
  ...pageQuery(),
  status: z.enum(RECURRING_STATUSES).optional(),
});

const id = 'rec_01kaj2v6wte8v9kcz0t3yd4m5n';
/** The example of the API. A test compares its fields with those of a real response. */
export const exampleRecurring = {
  id,
  payment_token_id: 'tok_01kaj2v6wte8v9kcz0t3yd4m5n',
  customer_id: 'customer-77',
  amount_minor: 500_000,
  currency: 'NGN' as const,
  interval: 'month' as const,
  interval_count: 1,
  timezone: 'Africa/Lagos',
  start_at: '2026-12-31T08:00:00.000Z',
  end_at: null,
  count: 24,
  max_failed_periods: null,
  status: 'active' as const,
  next_charge_at: '2027-02-28T08:00:00.000Z',
  charged_periods: 2,
  last_paid_reference: `${id}-1`,
  unpaid_references: [],
  description: 'Gold plan',
  metadata: { plan: 'gold' },
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2027-01-31T08:00:01.000Z',
  ended_at: null,
};

/** A recurring charge, as tenants get it. */
export const recurringChargeResource = z
  .object({
    id: idSchema('recurringCharge'),
    payment_token_id: idSchema('paymentToken'),
    customer_id: z.string(),
    amount_minor: amountMinor('Amount in kobo of each period.'),
    currency: z.literal('NGN'),
    interval,
    interval_count: z.int().min(1),
    timezone: z.string(),
    start_at: timestamp('When the first period begins.'),
    end_at: timestamp('No period begins at this time or later.').nullable(),
    count: z.int().min(1).nullable().meta({
      description: 'Number of periods, including periods that a pause skipped.',
    }),
    max_failed_periods: z.int().min(1).nullable().meta({
      description: 'It ends after so many failed periods in a row.',
    }),
    status: z.enum(RECURRING_STATUSES).meta({
      description:
        '`past_due`: a charge was declined, or the payment token was revoked. Later periods are still charged. It becomes ' +
        '`active` again when a later charge is paid or when you resume it, if its payment token is not revoked.',
    }),
    next_charge_at: timestamp('When the next period is charged.').nullable(),
    charged_periods: z.int().min(0),
    last_paid_reference: z
      .string()
      .nullable()
      .meta({ description: 'Reference of the latest paid charge.' }),
    unpaid_references: z.array(z.string()).meta({
      description:
        'References of charges in flight or being retried, and of the latest failed charge.',
    }),
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: timestamp('When the recurring charge was accepted.'),
    updated_at: timestamp('When the recurring charge last changed.'),
    ended_at: timestamp('When the recurring charge ended or was cancelled.').nullable(),
  })
  .meta({
    id: 'RecurringCharge',
    description: 'A charge that is repeated by a plan.',
    example: exampleRecurring,
  });
