import type { Collection, Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { supervisionOf } from '../supervision/supervision.js';
import type { ProviderEvent, ProviderEventOwner } from './event.js';

/** The store of provider events. */
export type ProviderEventStore = ReturnType<typeof createProviderEventStore>;

/** Open workflows of one provider and type. Further events wait in the list alone, so none can flood Temporal. */
export const MAX_OPEN_WORKFLOWS = 100;
/** Attempts to take a place that another process takes at the same moment. */
const SLOT_ATTEMPTS = 5;

const IS_DATE = { $type: 'date' } as const;
const HAS_SLOT = { $type: 'int' } as const;

/** A selection of events for operators. */
export type ProviderEventSelection = {
  card?: string;
  provider?: string;
  type?: string;
  attention: boolean;
  limit: number;
};

/** Creates the store of provider events. Nothing here moves money: see apply.ts. */
export function createProviderEventStore(
  { db }: Database,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<ProviderEvent>('provider_events');
  return {
    ...workflowSlots(collection),
    ...progress(collection, clock),
    ...ends(collection, clock),
    ...supervisionOf(
      collection,
      'received_at',
      { clock, stallTimeoutMs },
      { acceptedField: 'received_at', open: { status: 'received' } },
    ),

    /** Stores an event. False for one that was stored before. */
    async insert(event: ProviderEvent): Promise<boolean> {
      try {
        await collection.insertOne(event);
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },

    /** Finds an event by its id alone: for workers and operators. */
    find: (id: string) => collection.findOne({ _id: id }),

    /** Finds an event of a tenant. */
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** The events of a card, newest first. */
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

    /** Events of all tenants, newest first; those with attention longest waiting first. */
    latest({ card, provider, type, attention, limit }: ProviderEventSelection) {
      const filter: Filter<ProviderEvent> = {
        ...(card !== undefined && { card_id: card }),
        ...(provider !== undefined && { provider }),
        ...(type !== undefined && { event: type }),
        ...(attention && { 'attention.since': IS_DATE }),
      };
      return collection
        .find(filter)
        .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(limit)
        .toArray();
    },
  };
}

/** The places for open workflows. */
function workflowSlots(collection: Collection<ProviderEvent>) {
  return {
    /**
     * Takes one of the places for open workflows of the event's provider and type. False if all are taken, or if the event
     * has ended. A unique index makes the bound exact over all processes.
     */
    async takeWorkflowSlot({ _id, provider, event }: ProviderEvent): Promise<boolean> {
      for (let attempt = 0; attempt < SLOT_ATTEMPTS; attempt += 1) {
        const taken = await collection
          .find({ provider, event, workflow_slot: HAS_SLOT }, { projection: { workflow_slot: 1 } })
          .toArray();
        if (taken.some((each) => each._id === _id)) return true;
        const used = new Set(taken.map(({ workflow_slot: slot }) => slot));
        const free = Array.from({ length: MAX_OPEN_WORKFLOWS }, (_, i) => i).filter(
          (i) => !used.has(i),
        );
        const slot = free[Math.floor(Math.random() * free.length)];
        if (slot === undefined) return false;
        const open = { _id, workflow_slot: null, status: { $in: ['received', 'failed'] } } as const;
        try {
          const { matchedCount } = await collection.updateOne(open, {
            $set: { workflow_slot: slot },
          });
          return matchedCount === 1;
        } catch (error) {
          if (!isDuplicate(error)) throw error;
        }
      }
      return false;
    },
  };
}

/** Writes of an event's progress. */
function progress(collection: Collection<ProviderEvent>, clock: () => Date) {
  return {
    /** Records the owner of an event whose card was unknown when it was stored. */
    async give(id: string, { tenantId, card }: ProviderEventOwner): Promise<void> {
      await collection.updateOne(
        { _id: id, tenant_id: null },
        { $set: { tenant_id: tenantId, card_id: card } },
      );
    },

    /** Records the facts of a message that its adapter has learned to read. */
    async learn(
      id: string,
      { facts, occurred_at }: Pick<ProviderEvent, 'facts' | 'occurred_at'>,
    ): Promise<void> {
      await collection.updateOne(
        { _id: id, reading: { $ne: 'event' } },
        { $set: { facts, occurred_at, reading: 'event' } },
      );
    },

    /** Records an attempt without an end; the dispatcher looks at the event after `nextMs`. */
    async postpone(id: string, reason: string, nextMs: number): Promise<void> {
      const next_check_at = new Date(clock().getTime() + nextMs);
      await collection.updateOne(
        { _id: id, status: 'received' },
        { $set: { result: reason, next_check_at }, $inc: { attempt_count: 1 } },
      );
    },

    /** Ends the dispatcher's checks of an event that has failed: its workflow waits for an operator, or the list alone. */
    async unschedule(id: string): Promise<void> {
      await collection.updateOne({ _id: id, status: 'failed' }, { $set: { next_check_at: null } });
    },
  };
}

const FORGET_SECRETS = { 'facts.$[].sealed': 1 } as const;

/** Writes of an event's end. */
function ends(collection: Collection<ProviderEvent>, clock: () => Date) {
  return {
    /** Ends an event that was applied, and forgets its secrets. The first end is kept. */
    async processed(id: string, outcome: string): Promise<void> {
      await collection.updateOne(
        { _id: id, status: { $ne: 'processed' } },
        {
          $set: {
            status: 'processed',
            attention: null,
            workflow_slot: null,
            next_check_at: null,
            processed_at: clock(),
            result: outcome,
          },
          $unset: FORGET_SECRETS,
        },
      );
    },

    /** Ends an event for which nothing can be done. */
    async ignore(id: string, reason: string): Promise<void> {
      await collection.updateOne(
        { _id: id, status: { $in: ['received', 'failed'] } },
        {
          $set: {
            status: 'ignored',
            attention: null,
            workflow_slot: null,
            next_check_at: null,
            result: reason,
          },
          $inc: { attempt_count: 1 },
          $unset: FORGET_SECRETS,
        },
      );
    },

    /** Ends the attempts and raises attention: nothing is tried any more until the event is replayed. */
    async fail(id: string, reason: string): Promise<void> {
      await collection.updateOne(
        { _id: id, status: 'received' },
        {
          $set: {
            status: 'failed',
            result: reason,
            attention: { since: clock(), reason },
            next_check_at: null,
          },
          $inc: { attempt_count: 1 },
        },
      );
    },
  };
}
