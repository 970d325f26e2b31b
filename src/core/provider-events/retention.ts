import type { Db } from 'mongodb';
import { firstIdAt } from '../../shared/ids.js';
import type { ProviderEventReplay, ProviderEvent } from './event.js';

const PAGE = 500;

/**
 * Removes one page of old events with their replays. Returns their number. Failed events are kept, because an operator
 * must decide on them.
 */
export function createProviderEventRetention({
  db,
  retentionMs,
  clock = () => new Date(),
}: {
  db: Db;
  retentionMs: number;
  clock?: () => Date;
}) {
  const events = db.collection<ProviderEvent>('provider_events');
  const replays = db.collection<ProviderEventReplay>('provider_event_replays');
  return async (): Promise<{ removed: number; more: boolean }> => {
    const before = firstIdAt('providerEvent', new Date(clock().getTime() - retentionMs));
    const page = await events
      .find(
        { _id: { $lt: before }, next_check_at: null, attention: null },
        { projection: { _id: 1 } },
      )
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const ids = page.map(({ _id }) => _id);
    await replays.deleteMany({ event_id: { $in: ids } });
    const { deletedCount } = await events.deleteMany({
      _id: { $in: ids },
      next_check_at: null,
      attention: null,
    });
    return { removed: deletedCount, more: page.length === PAGE };
  };
}
