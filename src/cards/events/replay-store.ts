import type { Database } from '../../database/client.js';
import { overdue } from '../../database/overdue.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { AcceptOutcome } from '../../ledger/view.js';
import type { CardEventReplay } from './event.js';
import type { ReplayItem } from './items.js';

export type CardEventReplays = ReturnType<typeof createCardEventReplays>;

/** What the event came to this time, or why it could not be applied. */
export type ReplayEnd = { outcome: string } | { code: string; message: string };

/** The store of replays. One is made by a commit together with its idempotency key. */
export function createCardEventReplays(
  { db }: Database,
  groupCommit: GroupCommit,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardEventReplay>('card_event_replays');

  return {
    ...overdue(collection, 'created_at', { clock, sweepSlackMs }),

    accept: (item: ReplayItem): Promise<AcceptOutcome> => groupCommit.commit(item),

    find: (id: string) => collection.findOne({ _id: id }),

    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    ended: (ids: string[]): Promise<CardEventReplay[]> =>
      collection.find({ _id: { $in: ids }, status: { $ne: 'pending' } }).toArray(),

    /** Ends it, once. */
    async end(id: string, end: ReplayEnd): Promise<void> {
      const [outcome, failure] = 'outcome' in end ? [end.outcome, null] : [null, end];
      const status = failure ? 'failed' : 'completed';
      await collection.updateOne(
        { _id: id, status: 'pending' },
        { $set: { status, outcome, failure, due_at: null, completed_at: clock() } },
      );
    },
  };
}
