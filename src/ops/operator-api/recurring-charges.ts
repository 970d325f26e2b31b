import { z } from 'zod';
import { presentRecurringCharge } from '../../capabilities/recurring-charges/presenter.js';
import {
  RECURRING_STATUSES,
  type RecurringCharge,
} from '../../capabilities/recurring-charges/record.js';
import { inWords } from '../../capabilities/recurring-charges/schedule.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import {
  anyId,
  existing,
  flag,
  LISTED,
  printed,
  printedList,
  reasonBody,
  tenantId,
} from './schema.js';
import { actOf } from './sign-in.js';

const tag = 'Recurring charges';

/** Lists the latest recurring charges. */
export const listRecurring = operation({
  id: 'listRecurring',
  tag,
  method: 'get',
  path: '/recurring-charges',
  summary: `List the latest ${LISTED}; with attention, those that need an operator`,
  roles: READERS,
  query: z.strictObject({
    tenant: tenantId.optional(),
    status: z.enum(RECURRING_STATUSES).optional(),
    attention: flag,
  }),
  answer: { status: 200, data: printedList },
});

/** Shows a recurring charge. */
export const getRecurring = operation({
  id: 'getRecurring',
  tag,
  method: 'get',
  path: '/recurring-charges/{id}',
  summary: 'Show one recurring charge',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: printed },
});

/** Pauses, resumes or cancels a recurring charge. */
export const changeRecurring = operation({
  id: 'changeRecurring',
  tag,
  method: 'post',
  path: '/recurring-charges/{id}/{change}',
  summary: 'Pause, resume or cancel a recurring charge',
  roles: WORKERS,
  params: { id: anyId, change: z.enum(['pause', 'resume', 'cancel']) },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** The routes for recurring charges. */
export const recurringChargeRoutes = ({ recurringCharges }: OperatorDeps): Route[] => [
  route(listRecurring, async (ctx, { query: { tenant, status, attention } }) => {
    const filter = {
      attention,
      ...(tenant !== undefined && { tenant_id: tenant }),
      ...(status && { status }),
    };
    sendData(ctx, 200, (await recurringCharges.store.latest(filter, LISTED)).map(presentRow));
  }),

  route(getRecurring, async (ctx, { params }) => {
    const found = await existing(recurringCharges.store.find(params.id), 'recurring charge');
    sendData(ctx, 200, present(found));
  }),

  route(changeRecurring, async (ctx, { params: { id, change }, body }) => {
    const before = await existing(recurringCharges.store.find(id), 'recurring charge');
    const why = { tenantId: before.tenant_id, reason: body.reason ?? null };
    const act = actOf(ctx, `recurring-charges.${change}`, id, why);
    const { answer } = await recurringCharges.change(before, change, null, act);
    const after = await existing(recurringCharges.store.find(id), 'recurring charge');
    if (answer.status !== 200) {
      throw new ApiError('invalid_state', { message: `The recurring charge is ${after.status}.` });
    }
    sendData(ctx, 200, present(after));
  }),
];

const present = (recurring: RecurringCharge) => ({
  ...presentRecurringCharge(recurring),
  tenant: recurring.tenant_id,
  charges: inWords({ ...recurring, status: 'active' }),
  attention: recurring.attention?.reason ?? null,
});

const presentRow = (recurring: RecurringCharge) => ({
  id: recurring._id,
  tenant: recurring.tenant_id,
  status: recurring.status,
  amount_minor: toWireAmount(recurring.amount_minor),
  interval: `${recurring.interval_count} ${recurring.interval}`,
  charged: recurring.charged_periods,
  next_charge_at: presentRecurringCharge(recurring).next_charge_at,
  attention: recurring.attention?.reason ?? null,
});
