import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { supervisionOf } from '../supervision/supervision.js';
import type { ProviderEventOwner, ProviderEvent } from './event.js';

export type ProviderEventStore = ReturnType<typeof createProviderEventStore>;

const IS_DATE = { $type: 'date' } as const;

/** The store of what issuers told us. Nothing here moves money: see handle.ts. */
export function createProviderEventStore(
  { db }: Database,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<ProviderEvent>('provider_events');
  return {
    ...outcomes(collection, stallTimeoutMs, clock),
    ...supervisionOf(collection, 'received_at', { clock, stallTimeoutMs }),

    /** False for one that was stored before. */
    async insert(event: ProviderEvent): Promise<boolean> {
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
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** A card's, the latest first. */
    async list(
      { tenantId, card }: ProviderEventOwner,
      { page, limit }: { page: number; limit: number },
    ): Promise<{ items: ProviderEvent[]; total: number }> {
      const filter = { card_id: card, tenant_id: tenantId };
      const found = collection.find(filter, { sort: { _id: -1 }, skip: (page - 1) * limit, limit });
      const [items, total] = await Promise.all([
        found.toArray(),
        collection.countDocuments(filter, { hint: { card_id: 1, _id: -1 } }),
      ]);
      return { items, total };
    },

    /** For operators, over all tenants: the latest first, or those first that have waited longest. */
    latest: (filter: { card?: string; attention: boolean; limit: number }) =>
      collection
        .find({
          ...(filter.card !== undefined && { card_id: filter.card }),
          ...(filter.attention && { 'attention.since': IS_DATE }),
        })
        .sort(filter.attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(filter.limit)
        .toArray(),
  };
}

/** What was learned about an event, and when somebody has to look again. */
function outcomes(
  collection: Collection<ProviderEvent>,
  stallTimeoutMs: number,
  clock: () => Date,
) {
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + stallTimeoutMs);
  return {
    /** Its card has come to be known. */
    async give(id: string, { tenantId, card }: ProviderEventOwner): Promise<void> {
      await collection.updateOne(
        { _id: id, tenant_id: null },
        { $set: { tenant_id: tenantId, card_id: card } },
      );
    },

    /** It has done what it had to do. The first time is the one that is told. */
    async processed(id: string, outcome: string): Promise<void> {
      const $set = { status: 'processed', attention: null, next_check_at: null } as const;
      const first = { processed_at: clock(), result: outcome };
      await collection.updateOne(
        { _id: id, status: { $ne: 'processed' } },
        { $set: { ...$set, ...first } },
      );
    },

    /** A try that came to nothing; the next one is made so much later. */
    async putOff(id: string, reason: string, nextMs: number): Promise<void> {
      await collection.updateOne(
        { _id: id, status: 'received' },
        { $set: { result: reason, next_check_at: dueAfter(nextMs) }, $inc: { attempt_count: 1 } },
      );
    },

    /** Nothing is tried any more, until somebody replays it. */
    async giveUp(id: string, reason: string, status: 'failed' | 'ignored'): Promise<void> {
      const attention = status === 'failed' ? { since: clock(), reason } : null;
      await collection.updateOne(
        { _id: id, status: 'received' },
        {
          $set: { status, result: reason, attention, next_check_at: null },
          $inc: { attempt_count: 1 },
        },
      );
    },
  };
}
