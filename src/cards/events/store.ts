import type { Collection } from 'mongodb';
import type { Database } from '../../database/client.js';
import { isDuplicate } from '../../database/duplicate.js';
import { overdue } from '../../database/overdue.js';
import type { CardEventOwner, StoredCardEvent } from './event.js';

export type CardEventStore = ReturnType<typeof createCardEventStore>;

const IS_DATE = { $type: 'date' } as const;

/** The store of what issuers told us. Nothing here moves money: see handle.ts. */
export function createCardEventStore(
  { db }: Database,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<StoredCardEvent>('card_events');
  return {
    ...outcomes(collection, sweepSlackMs, clock),
    ...overdue(collection, 'received_at', { clock, sweepSlackMs }),

    /** False for one that was stored before. */
    async insert(event: StoredCardEvent): Promise<boolean> {
      try {
        await collection.insertOne(event);
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },

    /** By our id alone: for the worker and for operators. */
    find: (id: string) => collection.findOne({ _id: id }),

    /** A tenant's own. */
    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    /** A card's, the latest first. */
    async list(
      { tenant, card }: CardEventOwner,
      { page, limit }: { page: number; limit: number },
    ): Promise<{ items: StoredCardEvent[]; total: number }> {
      const filter = { card, tenant };
      const found = collection.find(filter, { sort: { _id: -1 }, skip: (page - 1) * limit, limit });
      const [items, total] = await Promise.all([
        found.toArray(),
        collection.countDocuments(filter, { hint: { card: 1, _id: -1 } }),
      ]);
      return { items, total };
    },

    /** For operators, over all tenants: the latest first, or those first that have waited longest. */
    latest: (filter: { card?: string; attention: boolean; limit: number }) =>
      collection
        .find({
          ...(filter.card !== undefined && { card: filter.card }),
          ...(filter.attention && { 'attention.since': IS_DATE }),
        })
        .sort(filter.attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(filter.limit)
        .toArray(),
  };
}

/** What was learned about an event, and when somebody has to look again. */
function outcomes(
  collection: Collection<StoredCardEvent>,
  sweepSlackMs: number,
  clock: () => Date,
) {
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + sweepSlackMs);
  return {
    /** Its card has come to be known. */
    async give(id: string, { tenant, card }: CardEventOwner): Promise<void> {
      await collection.updateOne({ _id: id, tenant: null }, { $set: { tenant, card } });
    },

    /** It has done what it had to do. The first time is the one that is told. */
    async processed(id: string, outcome: string): Promise<void> {
      const $set = { status: 'processed', attention: null, due_at: null } as const;
      const first = { processed_at: clock(), outcome };
      await collection.updateOne(
        { _id: id, status: { $ne: 'processed' } },
        { $set: { ...$set, ...first } },
      );
    },

    /** A try that came to nothing; the next one is made so much later. */
    async putOff(id: string, reason: string, nextMs: number): Promise<void> {
      await collection.updateOne(
        { _id: id, status: 'received' },
        { $set: { outcome: reason, due_at: dueAfter(nextMs) }, $inc: { tries: 1 } },
      );
    },

    /** Nothing is tried any more, until somebody replays it. */
    async giveUp(id: string, reason: string, status: 'failed' | 'ignored'): Promise<void> {
      const attention = status === 'failed' ? { since: clock(), reason } : null;
      await collection.updateOne(
        { _id: id, status: 'received' },
        { $set: { status, outcome: reason, attention, due_at: null }, $inc: { tries: 1 } },
      );
    },
  };
}
