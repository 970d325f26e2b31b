import type { Collection } from 'mongodb';
import { acrossTenants, ownedFilter } from '../../platform/database/tenant-filters.js';
import type { EndpointDocument } from './endpoints.js';
import type { Delivery } from './event.js';

/** The name of the index of the queues. */
const WAITING = 'waiting';

/** An endpoint by its id and its tenant. */
export type EndpointKey = Pick<EndpointDocument, '_id' | 'tenant_id'>;

/**
 * Recovery looks at a waiting delivery again after this: only once, if all is well. Its endpoint is what is supervised.
 */
const CHECK_AGAIN_MS = 7 * 24 * 60 * 60 * 1000;
/** Deliveries that are cancelled by one write. */
const PAGE = 2_000;

/**
 * The deliveries that wait for an endpoint, in the order of `retry_at`: the time of their event, and after a refusal that of
 * their next attempt. All queries read the index `waiting`.
 */
export function createWaiting(deliveries: Collection<Delivery>) {
  const waitingFor = ({ tenant_id, _id }: EndpointKey) => ({
    tenant_id,
    endpoint_id: _id,
    retry_at: { $type: 'date' as const },
  });

  return {
    /** The first deliveries of the queue of this endpoint whose time has come. */
    waiting: (endpoint: EndpointKey, { at, limit }: { at: Date; limit: number }) =>
      deliveries
        .find({ ...waitingFor(endpoint), retry_at: { $lte: at, $type: 'date' } })
        .sort({ retry_at: 1 })
        .hint(WAITING)
        .limit(limit)
        .toArray(),

    /** The time of the first delivery of the queue; null if the queue is empty. */
    async nextRetryAt(endpoint: EndpointKey): Promise<Date | null> {
      const first = await deliveries.findOne(waitingFor(endpoint), {
        sort: { retry_at: 1 },
        hint: WAITING,
        projection: { retry_at: 1 },
      });
      return first?.retry_at ?? null;
    },

    /** When recovery has to look again at a delivery of which a workflow takes care. */
    checkAgainAt: () => new Date(Date.now() + CHECK_AGAIN_MS),

    /** Recovery has seen to it that the endpoints of these have a workflow. */
    async checked(of: readonly Delivery[]): Promise<void> {
      const owned = of.map(({ tenant_id: tenantId, _id: id }) => ({ tenantId, id }));
      const unchanged = { ...ownedFilter(owned), status: 'retrying' as const };
      const at = new Date(Date.now() + CHECK_AGAIN_MS);
      await deliveries.updateMany(unchanged, { $set: { next_check_at: at } });
    },

    /** Makes all that waits due at once, in the order of the events. */
    async makeDue(endpoint: EndpointKey): Promise<void> {
      const retry_at = { $gt: new Date(), $type: 'date' as const };
      const later = { ...waitingFor(endpoint), retry_at };
      await deliveries.updateMany(later, [{ $set: { retry_at: '$created_at' } }]);
    },

    /** Puts deliveries that died since then into the queue again, with the whole schedule. */
    async revive({ tenant_id, _id }: EndpointKey, since: Date): Promise<void> {
      const died = {
        status: 'dead' as const,
        tenant_id,
        endpoint_id: _id,
        'attempts.at': { $gte: since },
      };
      await deliveries.updateMany(died, [
        {
          $set: {
            status: 'retrying',
            attempt_count: 0,
            retry_at: '$created_at',
            next_check_at: new Date(),
            redeliveries: { $add: ['$redeliveries', 1] },
          },
        },
      ]);
    },

    /** Cancels deliveries that wait for an endpoint, which may be gone with its tenant. True if more may be left. */
    async cancelWaiting(endpoint: string): Promise<boolean> {
      const waiting = { endpoint_id: endpoint, retry_at: { $type: 'date' as const } };
      const found = await deliveries
        .find(waiting, { projection: { tenant_id: 1 }, ...acrossTenants('look_up') })
        .limit(PAGE)
        .toArray();
      if (found.length === 0) return false;
      const owned = found.map(({ tenant_id: tenantId, _id: id }) => ({ tenantId, id }));
      await deliveries.updateMany(
        { ...ownedFilter(owned), ...waiting },
        { $set: { status: 'cancelled', next_check_at: null, retry_at: null } },
      );
      return found.length === PAGE;
    },
  };
}
