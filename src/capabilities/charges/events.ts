import type { EventDraft } from '../../core/webhooks/event.js';
import { statusOf, type Charge, type ChargeStatus } from './charge.js';
import { presentCharge } from './presenter.js';

const TOLD: ReadonlySet<ChargeStatus> = new Set(['requires_action', 'completed', 'failed']);

/** The event of a change, and the charge with that event counted. Who waits for a next attempt is told nothing yet. */
export function withEvent(
  before: Charge,
  after: Charge,
): { next: Charge; event: EventDraft | null } {
  const status = statusOf(after);
  if (status === statusOf(before) || !TOLD.has(status)) return { next: after, event: null };
  const sequence = before.event_sequence + 1;
  const next = { ...after, event_sequence: sequence };
  const { tenant_id: tenantId, _id: resource, updated_at: at } = next;
  const told = { name: `charge.${status}`, data: presentCharge(next) };
  return { next, event: { tenantId, resource, sequence, at, ...told } };
}
