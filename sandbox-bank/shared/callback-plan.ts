import { randomUUID } from 'node:crypto';
import type { CallbackRecord, EventName, Subject } from './callback-record.js';

/** Pause between the deliveries of an outcome whose callbacks come out of order. */
const STEP_MS = 150;

/** An outcome that callbacks report. */
export type OutcomeNotice = {
  about: Subject;
  event: EventName;
  at: number;
  /** The number of deliveries of the event; 1 if missing. */
  times?: number;
  /** The earlier state, if it is to be reported after the outcome, out of order. */
  before?: { event: EventName; at: number } | undefined;
};

type CallbackEvent = Pick<CallbackRecord, 'id' | 'event' | 'occurred_at'>;

/** Plans the callbacks of an outcome as journal records, numbered from `delivery` on. */
export function planCallbacks(notice: OutcomeNotice, delivery: number): CallbackRecord[] {
  const outcome: CallbackEvent = { id: newEventId(), event: notice.event, occurred_at: notice.at };
  return inDeliveryOrder(notice, outcome).map((each, i) => ({
    kind: 'callback',
    delivery: delivery + i,
    ...notice.about,
    not_before: notice.at + i * STEP_MS,
    ...each,
  }));
}

/** Out of order: the outcome, an older "pending", the same event again, and the same outcome as a new event. */
function inDeliveryOrder(
  { before, times = 1 }: OutcomeNotice,
  outcome: CallbackEvent,
): CallbackEvent[] {
  if (!before) return Array.from({ length: times }, () => outcome);
  const stale: CallbackEvent = { id: newEventId(), event: before.event, occurred_at: before.at };
  return [outcome, stale, outcome, { ...outcome, id: newEventId() }];
}

function newEventId(): string {
  return `evt_${randomUUID().replaceAll('-', '')}`;
}
