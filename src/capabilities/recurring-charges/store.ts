import { randomUUID } from 'node:crypto';
import type { Collection, Filter } from 'mongodb';
import { updateAccepted } from '../../platform/database/accepted-updates.js';
import type { Database } from '../../platform/database/client.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { stillClaimed } from '../../platform/database/claims.js';
import { noStall, stallsOf, startedWithoutEffect } from '../../core/supervision/stalls.js';
import { claimsOf, type Supervised } from '../../core/supervision/supervision.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { AcceptResult } from '../../core/commit/accept.js';
import { type Charge, newCharge } from '../charges/record.js';
import {
  RECURRING_INDEXES,
  isDue,
  openCharges,
  type RecurringCharge,
  type RecurringStatus,
} from './record.js';
import type { PaymentToken } from '../payment-tokens/record.js';
import {
  changeRecurringCharge,
  loseRecurringToken,
  updateRecurringCharge,
  renewRecurringCharge,
  type ChangeRecurringChargeResult,
  type ChangeRecurringCharge,
  type UpdateRecurringCharge,
} from './mutations.js';

/** The page and the filter of a list of recurring charges. */
type RecurringListing = {
  page: number;
  limit: number;
  status?: RecurringStatus | undefined;
};

/** The result of a renewal: a charge, nothing because another process was faster, or a record with nothing due. */
type Renewal =
  | { kind: 'renewed'; charge: Charge }
  | { kind: 'overtaken' }
  /** The tenant is frozen: the period is charged later. */
  | { kind: 'frozen' }
  | { kind: 'not_due'; recurring: RecurringCharge };

/** Interval of the checks if nothing is due, because an operator may have changed the Schedule. */
const CHECK_EVERY_MS = 24 * 60 * 60 * 1000;

/** The store of recurring charges. */
export type RecurringCharges = ReturnType<typeof createRecurringCharges>;

/** The store of recurring charges. They change only through commits; recovery checks them at `next_check_at`. */
export function createRecurringCharges(
  { db }: Database,
  groupCommit: GroupCommit,
  {
    stallTimeoutMs,
    frozenOf,
    dunningDays,
  }: {
    stallTimeoutMs: number;
    /** Those of these tenants that are frozen. */
    frozenOf: (tenants: readonly string[]) => Promise<readonly string[]>;
    dunningDays: (tenantId: string) => Promise<readonly number[]>;
  },
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<RecurringCharge>('recurring_charges');
  const tokens = db.collection<PaymentToken>('payment_tokens');

  return {
    ...recurringQueries(collection),
    ...termChanges(collection, groupCommit, clock),
    ...recoveryQueries(collection, { stallTimeoutMs, frozenOf, clock }),

    /** Pauses, resumes or cancels. The response shows the changed record. */
    async change(
      recurring: RecurringCharge,
      given: Pick<ChangeRecurringCharge, 'change' | 'claim' | 'answer' | 'act'>,
    ): Promise<AcceptResult> {
      const { tenant_id: tenantId, _id: id } = recurring;
      const { act } = given;
      const at = clock();
      for (let seen: RecurringCharge | null = recurring; ;) {
        const charges = given.change === 'cancel' && seen ? openCharges(seen) : [];
        const input = {
          tenantId,
          id,
          at,
          charges,
          ...given,
          // A try that was overtaken changed nothing, and has its entry in the audit log.
          ...(act && { act: seen === recurring ? act : { ...act, id: randomUUID() } }),
        };
        const outcome: ChangeRecurringChargeResult = await groupCommit.commit(
          changeRecurringCharge,
          input,
        );
        if (outcome.kind !== 'overtaken') return outcome;
        seen = await collection.findOne({ _id: id, tenant_id: tenantId });
      }
    },

    /** Charges the next period if it is due. One commit does it, so that each period is charged once. */
    async renew(tenantId: string, id: string): Promise<Renewal | null> {
      const recurring = await collection.findOne({ _id: id, tenant_id: tenantId });
      if (!recurring) return null;
      const at = clock();
      if (!isDue(recurring, at)) return { kind: 'not_due', recurring };
      if ((await frozenOf([tenantId])).length > 0) return { kind: 'frozen' };
      const token = await tokens.findOne({ _id: recurring.payment_token_id, tenant_id: tenantId });
      if (!token) throw new Error(`${id} has no payment token`);
      const charge = chargeOf(recurring, token, [...(await dunningDays(tenantId))], at);
      const input = { tenantId, id, charge, at };
      const renewed = (await groupCommit.commit(renewRecurringCharge, input)).charge;
      return renewed ? { kind: 'renewed', charge: renewed } : { kind: 'overtaken' };
    },

    tokenOf: (tenantId: string, id: string) => tokens.findOne({ _id: id, tenant_id: tenantId }),
  };
}

/** Changes of the terms: by the tenant, and by the deletion of the payment token. */
function termChanges(
  collection: Collection<RecurringCharge>,
  groupCommit: GroupCommit,
  clock: () => Date,
) {
  return {
    /** Changes token, amount or end. The response shows the changed record. */
    update: (
      { tenant_id: tenantId, _id: id }: RecurringCharge,
      given: Pick<UpdateRecurringCharge, 'terms' | 'claim' | 'answer'>,
    ): Promise<AcceptResult> =>
      groupCommit.commit(updateRecurringCharge, { tenantId, id, at: clock(), ...given }),

    /** Makes the recurring charges of a deleted payment token past due. No new one can name the token any more. */
    async loseToken(tenantId: string, token: string): Promise<void> {
      const affected = collection.find(
        {
          tenant_id: tenantId,
          payment_token_id: token,
          status: { $in: ['active', 'past_due', 'paused'] },
          token_revoked: { $ne: true },
        },
        { projection: { _id: 1 } },
      );
      for await (const { _id: id } of affected) {
        await groupCommit.commit(loseRecurringToken, { tenantId, id, token });
      }
    },
  };
}

/** Queries for recurring charges. Those for clients name the tenant; the others are for operators. */
function recurringQueries(collection: Collection<RecurringCharge>) {
  return {
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** Finds a recurring charge by id alone, for operators. */
    find: (id: string) => collection.findOne({ _id: id }, acrossTenants('look_up')),

    async list(tenantId: string, { page, limit, status }: RecurringListing) {
      const filter: Filter<RecurringCharge> = { tenant_id: tenantId, ...(status && { status }) };
      const hint = status ? RECURRING_INDEXES.byStatus : RECURRING_INDEXES.byCreation;
      const [items, total] = await Promise.all([
        collection
          .find(filter, { hint })
          .sort({ created_at: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },

    /** Lists recurring charges of all tenants: the newest first, or those that need an operator, the longest waiting first. */
    latest: (
      {
        attention = false,
        ...filter
      }: { tenant_id?: string; status?: RecurringStatus; attention?: boolean },
      limit: number,
    ) =>
      collection
        .find(
          { ...filter, ...(attention && { 'attention.since': { $type: 'date' } }) },
          acrossTenants('report'),
        )
        .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(limit)
        .toArray(),
  };
}

/** Finds and reschedules the checks of schedule and workflow. */
function recoveryQueries(
  collection: Collection<RecurringCharge>,
  {
    stallTimeoutMs,
    frozenOf,
    clock,
  }: {
    stallTimeoutMs: number;
    frozenOf: (tenants: readonly string[]) => Promise<readonly string[]>;
    clock: () => Date;
  },
) {
  return {
    ...claimsOf(collection, { clock, stallTimeoutMs }),

    /**
     * Sets the next check: when the next period is overdue, or after a day. A terminal record has no further check. While the
     * tenant is frozen, a start has no effect on purpose, so it counts as no stall.
     */
    async rescheduleCheck(found: readonly (Supervised & { tenant_id?: string })[]): Promise<void> {
      const now = clock();
      const later = new Date(now.getTime() + CHECK_EVERY_MS);
      const overdue = { $add: [{ $max: ['$next_charge_at', now] }, stallTimeoutMs] };
      const idle = { $or: [{ $eq: ['$status', 'paused'] }, { $eq: ['$next_charge_at', null] }] };
      const next = { $cond: [idle, later, { $min: [overdue, later] }] };
      const tenants = new Set(found.flatMap(({ tenant_id: tenant }) => tenant ?? []));
      const isFrozen = { $in: ['$tenant_id', [...(await frozenOf([...tenants]))]] };
      const over = { $in: ['$status', ['ended', 'cancelled']] };
      const started = startedWithoutEffect(now, '$next_charge_at', 'next_charge_at');
      await updateAccepted(collection, stillClaimed(found), [
        {
          $set: {
            next_check_at: { $cond: [over, null, next] },
            claim: '$$REMOVE',
            stalled: { $cond: [isFrozen, noStall(now), started] },
            version: { $add: ['$version', 1] },
          },
        },
      ]);
    },

    // A check without a due period is no sign of a stall, so progress is the next period.
    ...stallsOf(
      collection,
      {
        acceptedField: 'next_charge_at',
        open: { status: { $in: ['active', 'past_due'] } },
        progressField: 'next_charge_at',
      },
      { clock, stallTimeoutMs },
    ),
  };
}

/** Builds the charge of the next period. */
function chargeOf(
  recurring: RecurringCharge,
  token: PaymentToken,
  dunning: number[],
  at: Date,
): Charge {
  const { _id: id, next_period: period } = recurring;
  return newCharge(
    {
      tenant_id: recurring.tenant_id,
      amount_minor: recurring.amount_minor,
      capture_mode: 'merchant_initiated',
      customer: token.customer,
      payment_token_id: token._id,
      description: recurring.description,
      metadata: recurring.metadata,
      provider: token.provider,
      dunning_days: dunning,
      reference: `${id}-${period}`,
      recurring: { id, period },
    },
    at,
  );
}
