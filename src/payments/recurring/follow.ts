import type { View } from '../../ledger/view.js';
import type { Charge } from '../charges/charge.js';
import { followed, standingOf, type Step } from './course.js';
import { presentRecurringCharge } from './presenter.js';
import type { RecurringCharge } from './recurring-charge.js';

/** What a charge's recurring charge makes of a change of it, in the same commit. Which has to have read it. */
export function recurringFollows(view: View, before: Charge, after: Charge): void {
  if (after.recurring === null || standingOf(before) === standingOf(after)) return;
  const recurring = view.record('recurring_charges', after.recurring.id);
  if (recurring?.tenant === after.tenant) {
    takeStep(view, followed(recurring, after, after.updated_at));
  }
}

/** Writes a change and states its events; answers the recurring charge with them counted. */
export function takeStep(view: View, { next, told }: Step): RecurringCharge {
  const before = next.events ?? 0;
  const counted = told.length === 0 ? next : { ...next, events: before + told.length };
  view.change('recurring_charges', counted);
  const { tenant, _id: resource, updated_at: at } = counted;
  for (const [i, name] of told.entries()) {
    const data = presentRecurringCharge(counted);
    const sequence = before + i + 1;
    view.tell({ tenant, resource, sequence, at, name: `recurring_charge.${name}`, data });
  }
  return counted;
}
