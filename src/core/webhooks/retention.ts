import type { Collection, Db } from 'mongodb';
import { firstIdAt } from '../../shared/ids.js';
import type { Delivery, DeliveryStatus, StoredEvent } from './event.js';

const PAGE = 500;
const UNSETTLED: DeliveryStatus[] = ['pending', 'retrying'];

type Collections = { events: Collection<StoredEvent>; deliveries: Collection<Delivery> };

/**
 * Removes old events with their deliveries, unless a delivery is still open: a TTL index can't check that. Ids sort by
 * time, so the index of ids is enough.
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
  const collections: Collections = {
    events: db.collection('webhook_events'),
    deliveries: db.collection('webhook_deliveries'),
  };
  /** One page, from after an id. `next` is where the following one begins, null at the end. */
  return async (after: string): Promise<{ removed: number; next: string | null }> => {
    const before = firstIdAt('event', new Date(clock().getTime() - retentionMs));
    const page = await collections.events
      .find({ _id: { $gt: after, $lt: before } }, { projection: { resource_id: 1 } })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const removed = page.length === 0 ? 0 : await removeSettled(collections, page);
    return { removed, next: page.length === PAGE ? (page.at(-1)?._id ?? null) : null };
  };
}

async function removeSettled(
  { events, deliveries }: Collections,
  page: readonly Pick<StoredEvent, '_id' | 'resource_id'>[],
): Promise<number> {
  const ids = page.map(({ _id }) => _id);
  // By the resource, for which there is an index.
  const theirs = {
    resource_id: { $in: [...new Set(page.map(({ resource_id: resource }) => resource))] },
    event_id: { $in: ids },
  };
  const kept = new Set(
    await deliveries.distinct('event_id', { ...theirs, status: { $in: UNSETTLED } }),
  );
  const old = ids.filter((id) => !kept.has(id));
  await deliveries.deleteMany({ ...theirs, event_id: { $in: old }, status: { $nin: UNSETTLED } });
  // An operator may have sent one of them again meanwhile.
  const left = new Set(
    await deliveries.distinct('event_id', { ...theirs, event_id: { $in: old } }),
  );
  const { deletedCount } = await events.deleteMany({
    _id: { $in: old.filter((id) => !left.has(id)) },
  });
  return deletedCount;
}
