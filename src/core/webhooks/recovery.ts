import type { Deliverer } from './deliverer.js';
import type { Deliveries } from './deliveries.js';
import type { DeliveryStarter } from './starter.js';

/**
 * Takes up what nobody looked after: a process died between its commit and the delivery, or a workflow is gone.
 * Answers how many there were. Several workers may sweep at once: what one has taken, the others leave alone.
 */
export function createRecovery(deps: {
  deliveries: Deliveries;
  deliverer: Deliverer;
  starter: DeliveryStarter;
  /** Until when what is taken now belongs to this sweep. */
  leaseEnd: () => Date;
}) {
  const { deliveries, deliverer, starter, leaseEnd } = deps;
  return async (limit: number): Promise<number> => {
    const due = await deliveries.claimDue(limit, leaseEnd());
    if (due.length === 0) return 0;
    const straight = due.filter(({ status }) => status === 'pending');
    const events = await deliveries.eventsOf(straight);
    deliverer.deliverSoon(
      straight.flatMap((delivery) => {
        const event = events.get(delivery.event_id);
        return event ? [{ delivery, body: event.body }] : [];
      }),
    );
    // An event that retention removed during a redelivery has no body left to send.
    const empty = straight.filter(({ event_id: event }) => !events.has(event));
    for (const of of empty) await deliveries.record({ of, kind: 'cancelled' });
    for (const delivery of due) {
      if (delivery.status !== 'retrying') continue;
      starter.startSoon({ delivery, attemptCount: delivery.attempt_count, afterMs: 0 });
    }
    return due.length;
  };
}
