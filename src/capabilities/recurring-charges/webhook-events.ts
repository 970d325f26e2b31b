import type { EventDraft } from '../../core/webhooks/event.js';
import { presentRecurringCharge } from './presenter.js';
import type { RecurringCharge } from './record.js';
import { recurringChargeResource } from './schema.js';
import type { Step } from './transitions.js';

/** The webhook events of recurring charges. */
export const recurringChargeEvents = {
  when: {
    'recurring_charge.renewed': 'a period of a recurring charge is paid',
    'recurring_charge.past_due':
      'a period of a recurring charge could not be charged (the charge says whether it is retried), or its payment token was deleted',
    'recurring_charge.ended': 'a recurring charge has ended or was cancelled',
  },
  data: recurringChargeResource,
};

/** Returns the webhook events of a change in their order, and the recurring charge with them counted. */
export function withRecurringChargeEvents({ next: changed, events: causes }: Step): {
  next: RecurringCharge;
  events: EventDraft[];
} {
  const before = changed.event_sequence;
  const next = { ...changed, event_sequence: before + causes.length };
  const { tenant_id: tenantId, _id: resource, updated_at: at } = next;
  const events = causes.map((cause, i): EventDraft => {
    const name: keyof typeof recurringChargeEvents.when = `recurring_charge.${cause}`;
    const data = presentRecurringCharge(next);
    return { tenantId, resource, sequence: before + i + 1, at, name, data };
  });
  return { next, events };
}
