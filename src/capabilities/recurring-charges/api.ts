import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import { RECURRING_STATUSES } from './recurring-charge.js';
import {
  changeRecurringChargeBody,
  createRecurringChargeBody,
  interval,
  listRecurringChargesQuery,
} from './schema.js';

const id = 'rec_01kaj2v6wte8v9kcz0t3yd4m5n';
const exampleRecurring = {
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
    status: z.enum(RECURRING_STATUSES).meta({
      description:
        '`past_due`: a charge was declined. Later periods are still charged. It becomes `active` again when a later ' +
        'charge is paid or when you resume it.',
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
  .meta({ id: 'RecurringCharge', example: exampleRecurring });

const tag = 'Payments';
const params = { id: idSchema('recurringCharge') };
const links = Object.fromEntries(
  ['get', 'pause', 'resume', 'cancel'].map((act) => [`${act}RecurringCharge`, 'id']),
);
const { payment_token_id, amount_minor, count, description, metadata } = exampleRecurring;
/** One of which nothing was charged yet. */
const exampleNew = {
  ...exampleRecurring,
  next_charge_at: exampleRecurring.start_at,
  charged_periods: 0,
  last_paid_reference: null,
};

/** Creates a recurring charge. */
export const createRecurringCharge = operation({
  id: 'createRecurringCharge',
  tag,
  method: 'post',
  path: '/payments/recurring-charges',
  summary: 'Create a recurring charge',
  description:
    'Charges a payment token every day, week, month or year. Each period is charged once when it begins, as a ' +
    'merchant-initiated charge with the reference `<id>-<period>`; periods are counted from 0. Missed periods are ' +
    'charged later, oldest first. The 31st means the last day of a shorter month.',
  body: createRecurringChargeBody,
  idempotent: true,
  answer: { status: 201, data: recurringChargeResource },
  refusals: ['not_found', 'invalid_state'],
  examples: {
    body: {
      payment_token_id,
      amount_minor,
      interval: 'month',
      count,
      description,
      metadata,
    },
    data: exampleNew,
  },
  links,
});

/** Lists recurring charges. */
export const listRecurringCharges = operation({
  id: 'listRecurringCharges',
  tag,
  method: 'get',
  path: '/payments/recurring-charges',
  summary: 'List recurring charges, newest first',
  query: listRecurringChargesQuery,
  answer: { status: 200, data: recurringChargeResource, list: true },
});

/** Shows a recurring charge. */
export const getRecurringCharge = operation({
  id: 'getRecurringCharge',
  tag,
  method: 'get',
  path: '/payments/recurring-charges/{id}',
  summary: 'Get a recurring charge',
  params,
  answer: { status: 200, data: recurringChargeResource },
});

const change = {
  tag,
  method: 'post',
  params,
  body: changeRecurringChargeBody,
  idempotent: true,
  answer: { status: 200, data: recurringChargeResource },
  refusals: ['invalid_state'],
} as const;

/** Pauses a recurring charge. */
export const pauseRecurringCharge = operation({
  ...change,
  id: 'pauseRecurringCharge',
  path: '/payments/recurring-charges/{id}/pause',
  summary: 'Pause a recurring charge',
  description:
    'Periods that begin during the pause are skipped and never charged later. An existing charge continues. If the ' +
    'recurring charge is paused already, nothing changes.',
  examples: { body: {}, data: { ...exampleNew, status: 'paused', next_charge_at: null } },
});

/** Resumes a recurring charge. */
export const resumeRecurringCharge = operation({
  ...change,
  id: 'resumeRecurringCharge',
  path: '/payments/recurring-charges/{id}/resume',
  summary: 'Resume a recurring charge',
  description:
    'Charging continues with the next period that begins. A recurring charge that is past due becomes active again, ' +
    'unless one of its charges is still being retried. If it is active already, nothing changes.',
  examples: { body: {}, data: exampleNew },
});

/** Cancels a recurring charge. */
export const cancelRecurringCharge = operation({
  ...change,
  id: 'cancelRecurringCharge',
  path: '/payments/recurring-charges/{id}/cancel',
  summary: 'Cancel a recurring charge',
  description:
    'Ends the recurring charge for good: no further period is charged, and a declined charge is not retried. If it is ' +
    'cancelled already, nothing changes.',
  examples: {
    body: {},
    data: {
      ...exampleNew,
      status: 'cancelled',
      next_charge_at: null,
      ended_at: exampleNew.updated_at,
    },
  },
});

/** The operations on recurring charges. */
export const recurringChargeOperations = {
  createRecurringCharge,
  listRecurringCharges,
  getRecurringCharge,
  pauseRecurringCharge,
  resumeRecurringCharge,
  cancelRecurringCharge,
};

/** The webhook events of recurring charges. */
export const recurringChargeEvents = {
  when: {
    'recurring_charge.renewed': 'a period of a recurring charge is paid',
    'recurring_charge.past_due':
      'a period of a recurring charge could not be charged; the charge says whether it is retried',
    'recurring_charge.ended': 'a recurring charge has ended or was cancelled',
  },
  data: recurringChargeResource,
};
