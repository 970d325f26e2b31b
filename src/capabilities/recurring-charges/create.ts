import type { Act } from '../../core/audit/entry.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptRecurringCharge } from './mutations.js';
import { ApiError } from '../../shared/errors.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import { invalidField } from '../../platform/http/validate.js';
import { newId } from '../../shared/ids.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import { throwIfKeyReused, type Claim, successResponse } from '../../core/commit/accept.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { nextCheckAfterChange, type Change, type Terms } from './transitions.js';
import { presentRecurringCharge } from './presenter.js';
import type { RecurringCharge } from './record.js';
import type { ChangeRecurringChargeBody, CreateRecurringChargeBody } from './schema.js';
import type { RecurringStarter } from './workflow-starter.js';
import type { RecurringCharges } from './store.js';

/** Tolerance for a client whose clock is behind ours, and for the duration of the request. */
const PAST_MS = 5 * 60 * 1000;
const AHEAD_MS = 5 * 366 * 24 * 60 * 60 * 1000;
/** Temporal's Schedules have no times after this. */
const LAST_END = new Date('2101-01-01T00:00:00Z');

type Deps = {
  groupCommit: Pick<GroupCommit, 'commit'>;
  recurringCharges: RecurringCharges;
  recurringStarter: RecurringStarter;
};

/** Accepts and changes recurring charges: one commit, then the Schedule and the workflow follow in the background. */
export function recurringChanges({ groupCommit, recurringCharges, recurringStarter }: Deps) {
  return {
    createRecurring: async (
      tenant: Tenant,
      body: CreateRecurringChargeBody,
      claim: Claim | null,
    ): Promise<IdempotentResponse> => {
      const now = new Date();
      const start = startOf(body, now);
      const token = await recurringCharges.tokenOf(tenant.id, body.payment_token_id);
      if (!token) {
        const message = 'There is no such payment token.';
        const error = new ApiError('not_found', { field: 'payment_token_id', message });
        return refuseRequest(groupCommit, { tenantId: tenant.id, claim, error });
      }
      const recurring = newRecurring(tenant, body, token.customer.id, { start, now });
      const outcome = throwIfKeyReused(
        await groupCommit.commit(acceptRecurringCharge, {
          tenantId: tenant.id,
          id: recurring._id,
          recurring,
          claim,
          answer: answerOf(201, recurring),
        }),
      );
      if (outcome.resource === recurring._id) recurringStarter.startSoon(recurring);
      return outcome;
    },

    changeRecurring: async (
      recurring: RecurringCharge,
      change: Change,
      claim: Claim | null,
      act?: Act,
    ): Promise<IdempotentResponse> => {
      const { tenant_id: tenantId, _id: id } = recurring;
      const outcome = throwIfKeyReused(
        await recurringCharges.change(recurring, {
          change,
          claim,
          ...(act && { act }),
          answer: (present) => answerOf(200, present),
        }),
      );
      const present = await recurringCharges.get(tenantId, id);
      if (present && outcome.answer.status === 200) recurringStarter.startSoon(present);
      return outcome;
    },

    updateRecurring: async (
      recurring: RecurringCharge,
      body: ChangeRecurringChargeBody,
      claim: Claim | null,
    ): Promise<IdempotentResponse> => {
      const { tenant_id: tenantId, _id: id } = recurring;
      const terms = termsOf(body, recurring.start_at);
      const answer = (present: RecurringCharge) => answerOf(200, present);
      const outcome = throwIfKeyReused(
        await recurringCharges.update(recurring, { terms, claim, answer }),
      );
      const present = await recurringCharges.get(tenantId, id);
      if (present && outcome.answer.status === 200) recurringStarter.startSoon(present);
      return outcome;
    },
  };
}

/** The requests that create and change recurring charges. */
export type RecurringChanges = ReturnType<typeof recurringChanges>;

const answerOf = (status: number, recurring: RecurringCharge) =>
  successResponse(presentRecurringCharge(recurring), status);

/** The start of the first period. It is not in the past, and before the end. */
function startOf({ start_at: given, end_at: end }: CreateRecurringChargeBody, now: Date): Date {
  const start = given ?? new Date(Math.floor(now.getTime() / 1000) * 1000);
  const aheadMs = start.getTime() - now.getTime();
  if (aheadMs < -PAST_MS) throw invalidField('start_at', 'out_of_range', 'must not be in the past');
  if (aheadMs > AHEAD_MS) {
    throw invalidField('start_at', 'out_of_range', 'must be within five years');
  }
  checkEnd(start, end);
  return start;
}

function checkEnd(start: Date, end: Date | null | undefined): void {
  if (end && end <= start) throw invalidField('end_at', 'out_of_range', 'must be after start_at');
  if (end && end > LAST_END) throw invalidField('end_at', 'out_of_range', 'must be before 2101');
}

/** The change in a body. A new end replaces the other kind of end. */
function termsOf(body: ChangeRecurringChargeBody, start: Date): Terms {
  const { payment_token_id, amount_minor: amountMinor, end_at: end, count } = body;
  checkEnd(start, end);
  const changesEnd = end !== undefined || count !== undefined;
  return {
    ...(payment_token_id !== undefined && { payment_token_id }),
    ...(amountMinor !== undefined && { amount_minor: BigInt(amountMinor) }),
    ...(body.max_failed_periods !== undefined && { max_failed_periods: body.max_failed_periods }),
    ...(changesEnd && { end: { end_at: end ?? null, count: count ?? null } }),
  };
}

function newRecurring(
  tenant: Tenant,
  body: CreateRecurringChargeBody,
  customer: string,
  { start, now }: { start: Date; now: Date },
): RecurringCharge {
  return {
    _id: newId('recurringCharge'),
    tenant_id: tenant.id,
    version: 1,
    event_sequence: 0,
    payment_token_id: body.payment_token_id,
    customer_id: customer,
    amount_minor: BigInt(body.amount_minor),
    currency: body.currency,
    interval: body.interval,
    interval_count: body.interval_count,
    timezone: body.timezone,
    start_at: start,
    end_at: body.end_at ?? null,
    count: body.count ?? null,
    max_failed_periods: body.max_failed_periods ?? null,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
    status: 'active',
    token_revoked: false,
    next_period: 0,
    next_charge_at: start,
    charged_periods: 0,
    unpaid: [],
    last_paid_reference: null,
    paused_at: null,
    pauses: [],
    next_check_at: nextCheckAfterChange(now),
    created_at: now,
    updated_at: now,
    ended_at: null,
  };
}
