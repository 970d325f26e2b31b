import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { Charge } from '../charges/charge.js';
import { followed, standingOf, type Step } from './transitions.js';
import { presentRecurringCharge } from './presenter.js';
import { recurringCharges, type RecurringCharge } from './recurring-charge.js';

/** Applies the change of a charge to its recurring charge, in the same commit. The mutation must have read both. */
export function recurringFollows(uow: UnitOfWork, before: Charge, after: Charge): void {
  if (after.recurring === null || standingOf(before) === standingOf(after)) return;
  const recurring = uow.get(recurringCharges, after.recurring.id);
  if (recurring?.tenant_id === after.tenant_id) {
    takeStep(uow, followed(recurring, after, after.updated_at));
  }
}

/** Writes a change and states its events; answers the recurring charge with them counted. */
export function takeStep(uow: UnitOfWork, { next, told }: Step): RecurringCharge {
  const before = next.event_sequence;
  const counted = told.length === 0 ? next : { ...next, event_sequence: before + told.length };
  uow.change(recurringCharges, counted);
  const { tenant_id: tenantId, _id: resource, updated_at: at } = counted;
  for (const [i, name] of told.entries()) {
    const data = presentRecurringCharge(counted);
    const sequence = before + i + 1;
    uow.emit({ tenantId, resource, sequence, at, name: `recurring_charge.${name}`, data });
  }
  return counted;
}
