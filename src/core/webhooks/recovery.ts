import type { Deliverer } from './deliverer.js';
import type { Deliveries } from './deliveries.js';
import type { DeliveryStarter } from './workflow-starter.js';

/**
 * Recovers overdue deliveries: their process died between commit and delivery, or their workflow is gone.
 * Returns their number. Several workers may recover at once: a delivery that one has claimed is left to it.
 */
export function createRecovery(deps: {
  deliveries: Deliveries;
  deliverer: Deliverer;
  starter: DeliveryStarter;
  /** The time until which claimed deliveries belong to this run. */
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
