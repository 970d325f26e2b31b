import type { EventDraft } from '../../webhooks/outbound/event.js';
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
  const sequence = (before.events ?? 0) + 1;
  const next = { ...after, events: sequence };
  const { tenant, _id: resource, updated_at: at } = next;
  const told = { name: `charge.${status}`, data: presentCharge(next) };
  return { next, event: { tenant, resource, sequence, at, ...told } };
}
