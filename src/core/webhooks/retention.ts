import type { Collection, Db } from 'mongodb';
import { acrossTenants, BY_ID } from '../../platform/database/tenant-filters.js';
import { firstIdAt } from '../../shared/ids.js';
import type { Delivery, DeliveryStatus, StoredEvent } from './event.js';

const PAGE = 500;
const UNSETTLED: DeliveryStatus[] = ['pending', 'retrying'];

type Collections = {
  events: Collection<StoredEvent>;
  deliveries: Collection<Delivery>;
  endpoints: Collection<{ _id: string; parked_at?: Date | null }>;
};

/** The collections of events and of what keeps them. */
export const webhookCollections = (db: Db): Collections => ({
  events: db.collection('webhook_events'),
  deliveries: db.collection('webhook_deliveries'),
  endpoints: db.collection('webhook_endpoints'),
});

/**
 * Removes old events with their deliveries, unless a delivery is still open: a TTL index can't check that. A delivery that
 * waits for a parked endpoint does not count, because that may never end. Ids sort by time, so the index of ids is enough.
 */
export function createRetention({
  db,
  retentionMs,
  clock = () => new Date(),
}: {
  db: Db;
  retentionMs: number;
  clock?: () => Date;
}) {
  const collections = webhookCollections(db);
  /** One page, from after an id. `next` is where the following one begins, null at the end. */
  return async (after: string): Promise<{ removed: number; next: string | null }> => {
    const before = firstIdAt('event', new Date(clock().getTime() - retentionMs));
    const page = await collections.events
      .find(
        { _id: { $gt: after, $lt: before } },
        { projection: { tenant_id: 1, resource_id: 1 }, ...acrossTenants('loop') },
      )
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const removed = page.length === 0 ? 0 : await removeSettled(collections, page);
    return { removed, next: page.length === PAGE ? (page.at(-1)?._id ?? null) : null };
  };
}

/** Removes events, with their deliveries, unless a delivery is open. Returns the number of removed events. */
export async function removeSettled(
  { events, deliveries, endpoints }: Collections,
  page: readonly Pick<StoredEvent, '_id' | 'tenant_id' | 'resource_id'>[],
): Promise<number> {
  const ids = page.map(({ _id }) => _id);
  const tenant_id = { $in: [...new Set(page.map((event) => event.tenant_id))] };
  // By tenant and resource, for which there is an index.
  const theirs = {
    tenant_id,
    resource_id: { $in: [...new Set(page.map(({ resource_id: resource }) => resource))] },
    event_id: { $in: ids },
  };
  const parked = await endpoints.distinct('_id', { parked_at: { $type: 'date' } });
  const open = { status: { $in: UNSETTLED }, endpoint_id: { $nin: parked } };
  const kept = new Set(await deliveries.distinct('event_id', { ...theirs, ...open }));
  const old = ids.filter((id) => !kept.has(id));
  await deliveries.deleteMany({ ...theirs, event_id: { $in: old }, $nor: [open] });
  // An operator may have sent one of them again meanwhile.
  const left = new Set(
    await deliveries.distinct('event_id', { ...theirs, event_id: { $in: old } }),
  );
  const { deletedCount } = await events.deleteMany({
    tenant_id,
    _id: { $in: old.filter((id) => !left.has(id)) },
  });
  return deletedCount;
}

/**
 * The events of a tenant whose deliveries are over, with their deliveries, if those were written before this id. Read from the
 * index of deliveries. An event with several deliveries may come more than once.
 */
export async function* settledEvents(
  db: Db,
  tenantId: string,
  before: string,
): AsyncGenerator<{ event: StoredEvent; deliveries: Delivery[] }> {
  const events = db.collection<StoredEvent>('webhook_events');
  const deliveries = db.collection<Delivery>('webhook_deliveries');
  let after = '';
  for (;;) {
    const page = await deliveries
      .find(
        { tenant_id: tenantId, _id: { $gt: after, $lt: before } },
        { projection: { event_id: 1, resource_id: 1 } },
      )
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const last = page.at(-1);
    if (!last) return;
    after = last._id;
    const ids = [...new Set(page.map(({ event_id: event }) => event))];
    const theirs = new Map<string, Delivery[]>(ids.map((id) => [id, []]));
    const resources = [...new Set(page.map(({ resource_id: resource }) => resource))];
    const all = deliveries.find({
      tenant_id: tenantId,
      resource_id: { $in: resources },
      event_id: { $in: ids },
    });
    for await (const delivery of all) theirs.get(delivery.event_id)?.push(delivery);
    const isOpen = ({ status }: Delivery) => UNSETTLED.includes(status);
    const over = ids.filter((id) => !theirs.get(id)?.some(isOpen));
    const theirEvents = { tenant_id: tenantId, _id: { $in: over } };
    for await (const event of events.find(theirEvents, BY_ID).sort({ _id: 1 })) {
      yield { event, deliveries: theirs.get(event._id) ?? [] };
    }
  }
}
