import type { Database } from '../../platform/database/client.js';
import { supervisionOf } from '../supervision/supervision.js';
import type { GroupCommit } from '../commit/group-commit.js';
import type { AcceptResult } from '../commit/saved-response.js';
import type { ProviderEventReplay } from './event.js';
import { acceptProviderEventReplay, type AcceptProviderEventReplay } from './mutations.js';

export type ProviderEventReplayStore = ReturnType<typeof createProviderEventReplayStore>;

/** What the event came to this time, or why it could not be applied. */
export type ReplayEnd = { outcome: string } | { code: string; message: string };

/** The store of replays. One is made by a commit together with its idempotency key. */
export function createProviderEventReplayStore(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<ProviderEventReplay>('provider_event_replays');

  return {
    ...supervisionOf(collection, 'created_at', { clock, stallTimeoutMs }),

    accept: (input: AcceptProviderEventReplay): Promise<AcceptResult> =>
      groupCommit.commit(acceptProviderEventReplay, input),

    find: (id: string) => collection.findOne({ _id: id }),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    ended: (ids: string[]): Promise<ProviderEventReplay[]> =>
      collection.find({ _id: { $in: ids }, status: { $ne: 'pending' } }).toArray(),

    /** Ends it, once. */
    async end(id: string, end: ReplayEnd): Promise<void> {
      const [outcome, failure] = 'outcome' in end ? [end.outcome, null] : [null, end];
      const status = failure ? 'failed' : 'completed';
      await collection.updateOne(
        { _id: id, status: 'pending' },
        { $set: { status, result: outcome, failure, next_check_at: null, completed_at: clock() } },
      );
    },
  };
}
