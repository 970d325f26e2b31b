import { createClaims, type Claimed } from '../../platform/database/claims.js';
import type { AnyBulkWriteOperation, ClientSession, Collection, Db, Filter } from 'mongodb';
import { createLane } from '../../shared/batching.js';
import { nextCheckIndex } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { acrossTenants, BY_ID, ownedFilter } from '../../platform/database/tenant-filters.js';
import { newId } from '../../shared/ids.js';
import { createWaiting } from './waiting.js';
import { timelineEntry, type TimelineEntry } from '../instructions/instruction.js';
import {
  DELIVERY_STATUSES,
  eventBody,
  type Attempt,
  type Delivery,
  type EventDraft,
  type StoredEvent,
} from './event.js';

/** Number of attempts that a delivery keeps: its ten, and those of redeliveries. */
const KEPT_ATTEMPTS = 50;
const MAX_RECORDS = 200;
const MAX_WAITING = 20_000;

/** The order in which tenants list their events, newest first. */
const EVENTS_BY_TIME = { tenant_id: 1, created_at: -1, _id: -1 } as const;
/** The same order for the events of one name, so that neither its pages nor its total read other events. */
const EVENTS_BY_NAME = { tenant_id: 1, name: 1, created_at: -1, _id: -1 } as const;

/** The selection of a list of events. `from` is inclusive, `until` exclusive. */
type EventListing = {
  page: number;
  limit: number;
  name: string | undefined;
  from: Date | undefined;
  until: Date | undefined;
};

/** The selection of a list of deliveries. `resource` is a record of the tenant. */
type DeliveryListing = { tenantId?: string; resource?: string; dead: boolean; limit: number };

/** The events of tenants that have an endpoint. */
export const eventsCollection: CollectionSpec = {
  name: 'webhook_events',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'resource_id', 'name', 'sequence', 'body', 'created_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      resource_id: { bsonType: 'string' },
      name: { bsonType: 'string' },
      sequence: { bsonType: 'int', minimum: 1 },
      body: { bsonType: 'string' },
      created_at: { bsonType: 'date' },
    },
  },
  // The order of one resource's events is decided by its own record: two with one number can't be.
  indexes: [
    { key: { tenant_id: 1, resource_id: 1, sequence: 1 }, unique: true },
    { key: EVENTS_BY_TIME },
    { key: EVENTS_BY_NAME },
  ],
  shardBy: 'tenant_id',
  sealed: [{ path: 'body' }],
};

/** The deliveries of events, one for each endpoint. */
export const deliveriesCollection: CollectionSpec = {
  name: 'webhook_deliveries',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'endpoint_id',
      'event_id',
      'name',
      'resource_id',
      'sequence',
      'status',
      'attempt_count',
    ],
    properties: {
      tenant_id: { bsonType: 'string' },
      endpoint_id: { bsonType: 'string' },
      event_id: { bsonType: 'string' },
      status: { enum: [...DELIVERY_STATUSES] },
      attempt_count: { bsonType: 'int', minimum: 0 },
      attempts: { bsonType: 'array' },
      next_check_at: { bsonType: ['date', 'null'] },
      retry_at: { bsonType: ['date', 'null'] },
    },
  },
  indexes: [
    nextCheckIndex,
    {
      key: { endpoint_id: 1, retry_at: 1 },
      partialFilterExpression: { retry_at: { $type: 'date' } },
      name: 'waiting',
    },
    { key: { tenant_id: 1, resource_id: 1 } },
    { key: { tenant_id: 1, _id: -1 } },
    {
      key: { status: 1, _id: -1 },
      partialFilterExpression: { status: 'dead' },
      name: 'dead',
    },
  ],
  shardBy: 'tenant_id',
};

/** Of a delivery that nobody has to look at. */
const ENDED = { next_check_at: null, retry_at: null };

/** An event with a delivery for each endpoint that was active at that moment. */
export type Outgoing = { event: StoredEvent; deliveries: Delivery[] };

/** A change of a delivery. `of` is the delivery as it was when the attempt began. */
type DeliveryRecord = {
  of: Pick<Delivery, '_id' | 'tenant_id' | 'redeliveries' | 'created_at'>;
} & (
  | { kind: 'delivered'; attempt: Attempt }
  /** The attempt failed. `retryAt` is the earliest time of the next one; null: none, it is dead. */
  | { kind: 'failed'; attempt: Attempt; retryAt: Date | null; nextCheckAt: Date }
  /** Left to the workflow of its endpoint, without an attempt. */
  | { kind: 'waiting'; nextCheckAt: Date }
  | { kind: 'cancelled' }
);

/** The store of events and deliveries. */
export type Deliveries = ReturnType<typeof createDeliveries>;

/** The store of events and deliveries. A delivery has a next check until it has ended. */
export function createDeliveries({ db }: { db: Db }) {
  const events = db.collection<StoredEvent>('webhook_events');
  const deliveries = db.collection<Delivery>('webhook_deliveries');
  const claims = createClaims(deliveries);
  // Only recovery depends on these writes, so under load they share one write.
  const lane = createLane<DeliveryRecord, void>({
    maxBatch: MAX_RECORDS,
    maxWaiting: MAX_WAITING,
    async run(records) {
      await deliveries.bulkWrite(records.map(toWrite), { ordered: true });
      return records.map(() => undefined);
    },
  });

  return {
    /** Writes events with their deliveries: one insert for each of the two collections. */
    async insert(outgoing: readonly Outgoing[], session?: ClientSession): Promise<void> {
      if (outgoing.length === 0) return;
      const options = { ordered: false, ...(session && { session }) };
      await events.insertMany(
        outgoing.map(({ event }) => event),
        options,
      );
      await deliveries.insertMany(
        outgoing.flatMap((one) => one.deliveries),
        options,
      );
    },

    /** Adds deliveries of existing events. */
    async add(fresh: Delivery[], session?: ClientSession): Promise<void> {
      if (fresh.length > 0) await deliveries.insertMany(fresh, { ...(session && { session }) });
    },

    record: (record: DeliveryRecord): Promise<void> => lane.enqueue(record),
    idle: () => lane.idle(),

    ...deliveryQueries(events, deliveries),
    ...createWaiting(deliveries),

    /** Claims overdue deliveries, oldest first, until `until`: no other recovery run takes them before. */
    claimDue: (limit: number, until: Date): Promise<Claimed<Delivery>> =>
      claims.claimDue({ now: new Date(), until, limit }),

    /** Starts a delivery from the beginning. The next recovery run makes it, whatever the result of an attempt in flight. */
    again: ({ _id, tenant_id }: Delivery, session?: ClientSession): Promise<Delivery | null> =>
      deliveries.findOneAndUpdate(
        { _id, tenant_id },
        {
          $set: { status: 'pending', attempt_count: 0, next_check_at: new Date(), retry_at: null },
          $inc: { redeliveries: 1 },
        },
        { returnDocument: 'after', ...(session && { session }) },
      ),
  };
}

function deliveryQueries(events: Collection<StoredEvent>, deliveries: Collection<Delivery>) {
  return {
    /** By id alone, for operators. */
    get: (id: string, session?: ClientSession) =>
      deliveries.findOne({ _id: id }, { ...acrossTenants('look_up'), ...(session && { session }) }),
    /** By id alone, for operators. */
    event: (id: string) => events.findOne({ _id: id }, acrossTenants('look_up')),

    async eventsOf(of: readonly Delivery[]): Promise<Map<string, StoredEvent>> {
      const owned = of.map(({ tenant_id: tenantId, event_id: id }) => ({ tenantId, id }));
      const found = await events.find(ownedFilter(owned), BY_ID).toArray();
      return new Map(found.map((event) => [event._id, event]));
    },

    /** The latest first, over all tenants, of one, or of one record. */
    list: ({ tenantId, resource, dead, limit }: DeliveryListing) =>
      deliveries
        .find(
          {
            ...(tenantId !== undefined && { tenant_id: tenantId }),
            ...(resource !== undefined && { resource_id: resource }),
            ...(dead && { status: 'dead' }),
          },
          acrossTenants('report'),
        )
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),

    getEvent: (tenantId: string, id: string) => events.findOne({ _id: id, tenant_id: tenantId }),

    /** The events of a tenant, newest first. */
    async listEvents(
      tenantId: string,
      { page, limit, name, from, until }: EventListing,
    ): Promise<{ items: StoredEvent[]; total: number }> {
      const created = { ...(from && { $gte: from }), ...(until && { $lt: until }) };
      const filter: Filter<StoredEvent> = {
        tenant_id: tenantId,
        ...(name !== undefined && { name }),
        ...((from ?? until) && { created_at: created }),
      };
      const hint = name === undefined ? EVENTS_BY_TIME : EVENTS_BY_NAME;
      const [items, total] = await Promise.all([
        events
          .find(filter, { hint })
          .sort({ created_at: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        events.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },

    /** The deliveries of these events, the oldest first. */
    ofEvents: (tenantId: string, of: readonly StoredEvent[]): Promise<Delivery[]> =>
      deliveries
        .find({
          tenant_id: tenantId,
          resource_id: { $in: of.map(({ resource_id: resource }) => resource) },
          event_id: { $in: of.map(({ _id }) => _id) },
        })
        .sort({ _id: 1 })
        .toArray(),

    /** All deliveries of this event. */
    of: ({ tenant_id: tenantId, resource_id: resource, _id: event }: StoredEvent) =>
      deliveries.find({ tenant_id: tenantId, resource_id: resource, event_id: event }).toArray(),

    /** The successful deliveries of a resource's events, as lines of its timeline. */
    async timelineOf(tenantId: string, resource: string): Promise<TimelineEntry[]> {
      const found = await deliveries
        .find({ tenant_id: tenantId, resource_id: resource, delivered_at: { $exists: true } })
        .sort({ delivered_at: 1 })
        .toArray();
      return timelineOfDeliveries(found);
    },
  };
}

/** One entry for each event, from its first delivery that was taken. The deliveries are in the order of that time. */
export function timelineOfDeliveries(delivered: readonly Delivery[]): TimelineEntry[] {
  const first = new Map<string, Delivery>();
  for (const one of delivered) if (!first.has(one.event_id)) first.set(one.event_id, one);
  return [...first.values()].map(
    ({ delivered_at: at, name, event_id: event, created_at: written }) =>
      timelineEntry(at ?? written, 'webhook_delivered', 'bursar', { detail: `${name} ${event}` }),
  );
}

/**
 * The documents of an event before they are written. Until `dueAt` the process that writes them delivers it. A delivery to
 * an endpoint that does not answer `waits` from the beginning.
 */
export function toOutgoing(
  draft: EventDraft,
  endpoints: readonly { id: string; waits?: boolean }[],
  dueAt: Date,
  id = newId('event'),
): Outgoing {
  const { tenantId, resource, name, sequence, at } = draft;
  const body = eventBody(id, draft);
  const event = {
    _id: id,
    tenant_id: tenantId,
    resource_id: resource,
    name,
    sequence,
    body,
    created_at: at,
  };
  const deliveries = endpoints.map(({ id: endpoint, waits = false }) => {
    const delivery = newDelivery(event, endpoint, dueAt);
    return waits ? { ...delivery, status: 'retrying' as const, retry_at: at } : delivery;
  });
  return { event, deliveries };
}

/** A delivery before its first attempt. */
export function newDelivery(event: StoredEvent, endpoint: string, dueAt: Date): Delivery {
  const { _id, tenant_id: tenantId, resource_id: resource, name, sequence } = event;
  return {
    _id: newId('webhookDelivery'),
    tenant_id: tenantId,
    endpoint_id: endpoint,
    event_id: _id,
    name,
    resource_id: resource,
    sequence,
    status: 'pending',
    attempt_count: 0,
    attempts: [],
    next_check_at: dueAt,
    retry_at: null,
    redeliveries: 0,
    created_at: event.created_at,
  };
}

function toWrite(record: DeliveryRecord): AnyBulkWriteOperation<Delivery> {
  // An attempt that began before a redelivery no longer counts.
  const filter = {
    _id: record.of._id,
    tenant_id: record.of.tenant_id,
    redeliveries: record.of.redeliveries,
  } as Filter<Delivery>;
  switch (record.kind) {
    case 'delivered': {
      const { attempt } = record;
      return {
        updateOne: {
          filter,
          update: {
            $set: { status: 'delivered', ...ENDED },
            $min: { delivered_at: attempt.at },
            $inc: { attempt_count: 1 },
            $push: { attempts: { $each: [attempt], $slice: -KEPT_ATTEMPTS } },
          },
        },
      };
    }
    case 'failed': {
      const { attempt, retryAt, nextCheckAt } = record;
      const next =
        retryAt === null
          ? { status: 'dead' as const, ...ENDED }
          : { status: 'retrying' as const, retry_at: retryAt, next_check_at: nextCheckAt };
      return {
        updateOne: {
          // Somebody else may have got through meanwhile.
          filter: { ...filter, status: { $ne: 'delivered' } },
          update: {
            $set: next,
            $inc: { attempt_count: 1 },
            $push: { attempts: { $each: [attempt], $slice: -KEPT_ATTEMPTS } },
          },
        },
      };
    }
    case 'waiting': {
      const { of, nextCheckAt } = record;
      const next = { status: 'retrying' as const, next_check_at: nextCheckAt };
      return {
        updateOne: {
          filter: { ...filter, status: 'pending' },
          update: { $set: { ...next, retry_at: of.created_at } },
        },
      };
    }
    case 'cancelled':
      return {
        updateOne: {
          filter: { ...filter, status: { $in: ['pending', 'retrying'] } },
          update: { $set: { status: 'cancelled', ...ENDED } },
        },
      };
  }
}
