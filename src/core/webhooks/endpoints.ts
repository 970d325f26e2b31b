import { LRUCache } from 'lru-cache';
import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import { nextCheckIndex } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { newId } from '../../shared/ids.js';
import { fitsAny } from './event-filter.js';
import { newSecret, type SecretBox } from './secrets.js';

/** Every process uses an operator's change within a second. */
const REMEMBERED_MS = 800;
const MAX_REMEMBERED = 10_000;
/** Every event is written and sent once for each endpoint. */
export const MAX_ENDPOINTS = 10;

/** `parked`: it failed for days. Its deliveries wait until an operator resumes it. */
type EndpointStatus = 'enabled' | 'disabled' | 'parked';

/** Events are written for these. */
const LISTENING = { $in: ['enabled', 'parked'] satisfies EndpointStatus[] };

/** An endpoint as it is stored. */
export type EndpointDocument = {
  _id: string;
  tenant_id: string;
  url: string;
  /** Patterns of the names of events that it gets. Without them it gets all. */
  events?: string[];
  status: EndpointStatus;
  /** Newest first. All that have not run out sign every delivery. */
  secrets: { sealed: string; created_at: Date; expires_at: Date | null }[];
  created_at: Date;
  updated_at: Date;
  /** The time of the next check by recovery; a date while the endpoint has a workflow, which delivers what waits for it. */
  next_check_at?: Date | null;
  /** The failure of the endpoint: no attempt has succeeded since then. `rounds` counts the workflow's futile ones. */
  failing?: { since: Date; rounds: number; retry_at: Date } | null;
  /** The last success that is known. It is not recorded while nothing waits for the endpoint. */
  answered_at?: Date;
  /** The end of the workflow's last attempts. */
  attempted_at?: Date;
  parked_at?: Date | null;
};

/** The webhook endpoints of tenants. */
export const endpointsCollection: CollectionSpec = {
  name: 'webhook_endpoints',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'url', 'status', 'secrets', 'created_at', 'updated_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      url: { bsonType: 'string' },
      events: { bsonType: 'array', minItems: 1, items: { bsonType: 'string' } },
      status: { enum: ['enabled', 'disabled', 'parked'] },
      secrets: {
        bsonType: 'array',
        minItems: 1,
        items: { bsonType: 'object', required: ['sealed', 'created_at', 'expires_at'] },
      },
      created_at: { bsonType: 'date' },
      updated_at: { bsonType: 'date' },
      next_check_at: { bsonType: ['date', 'null'] },
      failing: {
        bsonType: ['object', 'null'],
        required: ['since', 'rounds', 'retry_at'],
        properties: {
          since: { bsonType: 'date' },
          rounds: { bsonType: 'int', minimum: 1 },
          retry_at: { bsonType: 'date' },
        },
      },
      answered_at: { bsonType: 'date' },
      attempted_at: { bsonType: 'date' },
      parked_at: { bsonType: ['date', 'null'] },
    },
  },
  indexes: [
    { key: { tenant_id: 1 } },
    nextCheckIndex,
    {
      key: { parked_at: 1 },
      partialFilterExpression: { parked_at: { $type: 'date' } },
      name: 'parked',
    },
    {
      key: { 'failing.since': 1 },
      partialFilterExpression: { 'failing.since': { $type: 'date' }, status: 'enabled' },
      name: 'failing',
    },
  ],
  sealed: [{ path: 'secrets.sealed', place: 'secret', byOwner: true }],
};

/** An endpoint as operators see it: never with a secret. */
export type Endpoint = {
  id: string;
  tenantId: string;
  url: string;
  /** Patterns of the names of events that it gets; null: all. */
  events: readonly string[] | null;
  status: EndpointStatus;
  /** No attempt has succeeded since then. Null if it answers, or if nothing waits for it. */
  failingSince: Date | null;
  /** The number of secrets that sign at present: two during a rotation. */
  secrets: number;
  createdAt: Date;
};

/**
 * The target of a delivery. Secrets are opened only to sign, and those that can't be opened are left out: a secret that was
 * sealed under another pepper must not block the commits that write events.
 */
export type Listener = {
  id: string;
  url: string;
  secrets: () => string[];
  /** True if it gets the events of this name. */
  takes: (name: string) => boolean;
  /** True if its workflow delivers what waits for it. */
  hasWorkflow: boolean;
  isFailing: boolean;
  isParked: boolean;
};

/** The store of webhook endpoints. */
export type Endpoints = ReturnType<typeof createEndpoints>;

/** The store of webhook endpoints. Only operators change them. */
export function createEndpoints({ db, secretBox }: { db: Db; secretBox: SecretBox }) {
  const collection = db.collection<EndpointDocument>('webhook_endpoints');
  const sealNew = (id: string) => {
    const secret = newSecret();
    const entry = { sealed: secretBox.seal(secret, id), created_at: new Date(), expires_at: null };
    return { secret, entry };
  };

  return {
    ...createListeners(collection, secretBox),

    /**
     * Answers the secret, this once. `events`: patterns of the names of events that it gets; all if left out. Null where the
     * tenant has as many endpoints as it may have.
     */
    async add(
      tenantId: string,
      url: string,
      { events, session }: { events?: string[] | undefined; session?: ClientSession } = {},
    ): Promise<{ id: string; secret: string } | null> {
      const within = session ? { session } : {};
      const known = await collection.countDocuments({ tenant_id: tenantId }, within);
      if (known >= MAX_ENDPOINTS) return null;
      const id = newId('webhookEndpoint');
      const { secret, entry } = sealNew(id);
      const document = newEndpoint(
        { _id: id, tenant_id: tenantId, url, ...(events && { events }), secrets: [entry] },
        new Date(),
      );
      await collection.insertOne(document, within);
      return { id, secret };
    },

    ...endpointQueries(collection),

    async remove(id: string, session?: ClientSession): Promise<boolean> {
      const { deletedCount } = await collection.deleteOne({ _id: id }, session ? { session } : {});
      return deletedCount === 1;
    },

    /** Creates a new secret and returns it once. The present secrets sign too until the overlap ends. */
    async rotate(
      id: string,
      overlapMs: number,
      session?: ClientSession,
    ): Promise<{ secret: string; until: Date } | null> {
      const within = session ? { session } : {};
      const document = await collection.findOne({ _id: id }, within);
      if (!document) return null;
      const now = new Date();
      const until = new Date(now.getTime() + overlapMs);
      const { secret, entry } = sealNew(id);
      const old = document.secrets
        .filter(({ expires_at: end }) => end === null || end > now)
        .map((one) => ({
          ...one,
          expires_at: one.expires_at && one.expires_at < until ? one.expires_at : until,
        }));
      const change = { $set: { secrets: [entry, ...old], updated_at: now } };
      const unchanged = { _id: id, updated_at: document.updated_at };
      const { matchedCount } = await collection.updateOne(unchanged, change, within);
      if (matchedCount === 0) throw new Error('the endpoint was changed at the same moment');
      return { secret, until };
    },
  };
}

const newEndpoint = (
  given: Pick<EndpointDocument, '_id' | 'tenant_id' | 'url' | 'events' | 'secrets'>,
  now: Date,
): EndpointDocument => ({
  ...given,
  status: 'enabled',
  created_at: now,
  updated_at: now,
  next_check_at: null,
  failing: null,
  parked_at: null,
});

/** Reads of operators, and the change of a filter. */
function endpointQueries(collection: Collection<EndpointDocument>) {
  return {
    async list(tenantId?: string): Promise<Endpoint[]> {
      const filter = tenantId === undefined ? {} : { tenant_id: tenantId };
      const found = await collection.find(filter).sort({ _id: 1 }).toArray();
      return found.map((document) => toEndpoint(document, new Date()));
    },

    async get(id: string, session?: ClientSession): Promise<Endpoint | null> {
      const document = await collection.findOne({ _id: id }, session ? { session } : {});
      return document && toEndpoint(document, new Date());
    },

    /** Changes the patterns of the names of events that it gets; null: all. Null if there is no such endpoint. */
    async filter(
      id: string,
      events: string[] | null,
      session?: ClientSession,
    ): Promise<Endpoint | null> {
      const set = { updated_at: new Date(), ...(events && { events }) };
      const change = { $set: set, ...(events === null && { $unset: { events: '' as const } }) };
      const within = { returnDocument: 'after' as const, ...(session && { session }) };
      const after = await collection.findOneAndUpdate({ _id: id }, change, within);
      return after && toEndpoint(after, new Date());
    },
  };
}

/** Caches the endpoints of a tenant for less than a second from the start of the query. */
function createListeners(collection: Collection<EndpointDocument>, secretBox: SecretBox) {
  const known = new LRUCache<string, Promise<Listener[]>>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
  });

  const toListener = ({ _id: id, url, events, secrets, ...state }: EndpointDocument): Listener => ({
    id,
    url,
    takes: (name) => !events || fitsAny(events, name),
    hasWorkflow: Boolean(state.next_check_at),
    isFailing: Boolean(state.failing),
    isParked: state.status === 'parked',
    secrets: () => secrets.filter(signs).flatMap(({ sealed }) => secretBox.open(sealed, id) ?? []),
  });
  const signs = ({ expires_at: end }: EndpointDocument['secrets'][number]) =>
    end === null || end > new Date();

  async function load(tenants: string[]): Promise<Map<string, Listener[]>> {
    const filter: Filter<EndpointDocument> = { tenant_id: { $in: tenants }, status: LISTENING };
    const listeners = new Map<string, Listener[]>();
    for (const document of await collection.find(filter).sort({ _id: 1 }).toArray()) {
      const before = listeners.get(document.tenant_id) ?? [];
      listeners.set(document.tenant_id, [...before, toListener(document)]);
    }
    return listeners;
  }

  /** The listeners of all these tenants, by one read for those that are not known. */
  async function listenersOf(tenants: Iterable<string>): Promise<Map<string, Listener[]>> {
    const listed = new Map(
      [...new Set(tenants)].map((tenantId) => [tenantId, known.get(tenantId)]),
    );
    const missing = [...listed].flatMap(([tenantId, found]) => (found ? [] : [tenantId]));
    if (missing.length > 0) {
      const loading = load(missing);
      for (const tenantId of missing) {
        const own = loading.then((found) => found.get(tenantId) ?? []);
        known.set(tenantId, own);
        own.catch(() => known.peek(tenantId) === own && known.delete(tenantId));
        listed.set(tenantId, own);
      }
    }
    const entries = [...listed].map(
      async ([tenantId, found]) => [tenantId, (await found) ?? []] as const,
    );
    return new Map(await Promise.all(entries));
  }

  return {
    listenersOf,
    hasSubscribers: async (tenantId: string) =>
      ((await listenersOf([tenantId])).get(tenantId) ?? []).length > 0,
    /** This endpoint, if events are written for it. If the cache lacks it, the database is queried. */
    async listener(tenantId: string, id: string): Promise<Listener | null> {
      const listeners = (await listenersOf([tenantId])).get(tenantId) ?? [];
      const found = listeners.find((one) => one.id === id);
      if (found) return found;
      const document = await collection.findOne({
        _id: id,
        tenant_id: tenantId,
        status: LISTENING,
      });
      return document && toListener(document);
    },
  };
}

function toEndpoint(document: EndpointDocument, now: Date): Endpoint {
  return {
    id: document._id,
    tenantId: document.tenant_id,
    url: document.url,
    events: document.events ?? null,
    status: document.status,
    failingSince: document.failing?.since ?? null,
    secrets: document.secrets.filter((one) => one.expires_at === null || one.expires_at > now)
      .length,
    createdAt: document.created_at,
  };
}
