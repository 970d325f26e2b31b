import { operation } from '../../platform/http/operation.js';
import { keyBody } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import {
  changeRecurringChargeBody,
  createRecurringChargeBody,
  listRecurringChargesQuery,
  recurringChargeResource,
  exampleRecurring,
} from './schema.js';

const tag = 'Payments';
const params = { id: idSchema('recurringCharge') };
const links = Object.fromEntries(
  ['get', 'update', 'pause', 'resume', 'cancel'].map((act) => [`${act}RecurringCharge`, 'id']),
);
const { payment_token_id, amount_minor, count, description, metadata } = exampleRecurring;
/** An example without a charged period. */
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

/** Changes the token, the amount or the end of a recurring charge. */
export const updateRecurringCharge = operation({
  id: 'updateRecurringCharge',
  tag,
  method: 'patch',
  path: '/payments/recurring-charges/{id}',
  summary: 'Change the payment token, the amount or the end of a recurring charge',
  description:
    'Fields that are left out stay as they are. A change counts from the next period on: a charge that exists keeps its ' +
    'token and its amount, also when it is retried. The token must be an active one of the same customer. If no period ' +
    'is left before the new end, the recurring charge ends. One that has ended is not changed (`invalid_state`).',
  params,
  body: changeRecurringChargeBody,
  idempotent: true,
  answer: { status: 200, data: recurringChargeResource },
  refusals: ['invalid_state'],
  examples: {
    body: { amount_minor: 650_000, count: 36 },
    data: { ...exampleNew, amount_minor: 650_000, count: 36 },
  },
});

const change = {
  tag,
  method: 'post',
  params,
  body: keyBody,
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
  updateRecurringCharge,
  pauseRecurringCharge,
  resumeRecurringCharge,
  cancelRecurringCharge,
};
