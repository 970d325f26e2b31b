import type { ClientSession } from 'mongodb';
import { newId } from '../../shared/ids.js';
import { newDelivery, toOutgoing, type Deliveries } from './deliveries.js';
import type { Endpoints } from './endpoints.js';
import { PING, type Delivery } from './event.js';

/**
 * Redelivers events for operators. Recovery makes the attempts within about a second. With a session the deliveries are
 * written in its transaction: that of the operator's entry in the audit log.
 */
export function createRedelivery({
  endpoints,
  deliveries,
}: {
  endpoints: Endpoints;
  deliveries: Deliveries;
}) {
  /** Delivers once more, with the whole schedule, whatever became of it. Null if there is no such delivery. */
  async function redeliver(id: string, session?: ClientSession): Promise<Delivery | null> {
    const delivery = await deliveries.get(id, session);
    return delivery && deliveries.again(delivery, session);
  }

  return {
    redeliver,

    /**
     * Redelivers an event to all present endpoints of its tenant that take it, including those created after the event.
     * Returns the deliveries, or null if there is no such event.
     */
    async replay(eventId: string, session?: ClientSession): Promise<string[] | null> {
      const event = await deliveries.event(eventId);
      if (!event) return null;
      const before = await deliveries.of(event);
      const all = (await endpoints.listenersOf([event.tenant_id])).get(event.tenant_id) ?? [];
      const listeners = all.filter(({ takes }) => takes(event.name));
      const known = before.filter(({ endpoint_id: endpoint }) =>
        listeners.some(({ id }) => id === endpoint),
      );
      const fresh = listeners
        .filter(({ id }) => known.every(({ endpoint_id: endpoint }) => endpoint !== id))
        .map(({ id }) => newDelivery(event, id, new Date()));
      for (const delivery of known) await deliveries.again(delivery, session);
      await deliveries.add(fresh, session);
      return [...known, ...fresh].map(({ _id: id }) => id);
    },

    /**
     * Sends a test event to this endpoint, whatever its filter. The event is its own resource, so it counts in no other's
     * sequence, and a receiver takes none for a repeat. Null if no events are written for the endpoint.
     */
    async ping(
      { id: endpoint, tenantId }: { id: string; tenantId: string },
      session?: ClientSession,
    ): Promise<{ event: string; delivery: string } | null> {
      if (!(await endpoints.listener(tenantId, endpoint))) return null;
      const id = newId('event');
      const at = new Date();
      const data = { id, endpoint_id: endpoint };
      const draft = { tenantId, resource: id, name: PING, sequence: 1, at, data };
      const outgoing = toOutgoing(draft, [{ id: endpoint }], at, id);
      await deliveries.insert([outgoing], session);
      return { event: id, delivery: String(outgoing.deliveries[0]?._id) };
    },
  };
}
