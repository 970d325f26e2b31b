import { randomUUID } from 'node:crypto';
import type { BankRecord, CallbackRecord, EventName } from './records.js';
import type { Transfer } from './state.js';

/** Pause between the deliveries of a transfer whose callbacks come out of order. */
const STEP_MS = 150;

type Told = Pick<CallbackRecord, 'id' | 'event' | 'occurred_at'>;

const EVENTS: Partial<Record<BankRecord['kind'], EventName>> = {
  paid: 'transfer.paid',
  refused: 'transfer.refused',
  reversed: 'transfer.reversed',
};

/** The callbacks that tell an outcome, as records of the journal. `delivery` is the number of the first one. */
export function planCallbacks(
  transfer: Transfer,
  outcome: BankRecord['kind'],
  at: number,
  delivery: number,
): CallbackRecord[] {
  const event = EVENTS[outcome];
  if (!event) return [];
  const tell: Told = { id: newEventId(), event, occurred_at: at };
  if (transfer.behaviour !== 'told_out_of_order') {
    return [record(transfer, delivery, tell, at)];
  }
  // The outcome, then an older "pending", the same event again, and the same outcome as an event of its own.
  const stale: Told = {
    id: newEventId(),
    event: 'transfer.pending',
    occurred_at: transfer.createdAt,
  };
  const again = { ...tell, id: newEventId() };
  return [tell, stale, tell, again].map((each, i) =>
    record(transfer, delivery + i, each, at + i * STEP_MS),
  );
}

function record(
  transfer: Transfer,
  delivery: number,
  event: Told,
  notBefore: number,
): CallbackRecord {
  return {
    kind: 'callback',
    delivery,
    transfer: transfer.number,
    not_before: notBefore,
    ...event,
  };
}

function newEventId(): string {
  return `evt_${randomUUID().replaceAll('-', '')}`;
}
