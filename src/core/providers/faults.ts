import type { ClientSession, Collection, Db } from 'mongodb';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { HOUR_MS } from '../../shared/durations.js';
import type { Log } from '../../shared/log.js';
import type { Fault } from './port.js';

/** A fault of a whole provider, or a word of it that no adapter knows. It is stored once, however often it is met. */
export type ProviderFault = {
  /** `<provider>/<fault>`, or `<provider>/word/<word>`. */
  _id: string;
  provider: string;
  kind: 'fault' | 'word';
  name: string;
  since: Date;
  last_seen_at: Date;
  /** Null while it lasts. */
  ended_at: Date | null;
  /** The smallest amount that our balance did not cover; null for other faults. */
  needed_minor: bigint | null;
  /** The records that have met it lately, if it may be about one of them alone. */
  met_by?: MetBy[];
};

/** A record that met a fault, its tenant, and the time of the last meeting. */
type MetBy = { record: string; tenant: string; at: Date };

/** So many records that meet the same refusal within an hour are no coincidence: the request of every record is wrong. */
export const MANY_RECORDS = 5;
/** One tenant's records may all be wrong in the same way. So few of them count that they are never enough alone. */
const OF_ONE_TENANT = MANY_RECORDS - 1;
const COUNTED_MS = HOUR_MS;

/** The records that have met a fault within an hour, with this one. A fault that had ended begins anew. */
export function metByWith(
  before: Pick<ProviderFault, 'met_by' | 'ended_at'> | null,
  met: MetBy,
): MetBy[] {
  const known = before?.ended_at === null ? (before.met_by ?? []) : [];
  const others = known.filter(
    ({ record, at }) => record !== met.record && at.getTime() > met.at.getTime() - COUNTED_MS,
  );
  const ofTenant = others.filter(({ tenant }) => tenant === met.tenant).slice(1 - OF_ONE_TENANT);
  const ofOthers = others.filter(({ tenant }) => tenant !== met.tenant);
  return [...ofOthers, ...ofTenant, met].slice(-MANY_RECORDS);
}

/** Faults of providers. */
export const providerFaultsCollection: CollectionSpec = {
  name: 'provider_faults',
  validator: {
    bsonType: 'object',
    required: ['provider', 'kind', 'name', 'since', 'last_seen_at'],
    properties: {
      provider: { bsonType: 'string' },
      kind: { enum: ['fault', 'word'] },
      name: { bsonType: 'string' },
      since: { bsonType: 'date' },
      last_seen_at: { bsonType: 'date' },
      ended_at: { bsonType: ['date', 'null'] },
      needed_minor: { bsonType: ['long', 'null'] },
    },
  },
  indexes: [{ name: 'lasting', key: { ended_at: 1, since: 1 } }],
};

/** A list of faults may be this old: for so long, first submissions go on after a fault began or ended. */
const KEPT_MS = 1_000;
/** Words go into operators' lists, so anything but an identifier is dropped. */
const WORD = /^[0-9A-Za-z_.-]{1,60}$/;

/** The faults of providers. */
export type ProviderFaults = ReturnType<typeof createProviderFaults>;

/**
 * Keeps the faults that concern whole providers. While one lasts, nothing is submitted to the provider for the first time;
 * what may have been executed is verified and repeated as before. Each calls an operator once, by the log and the doctor.
 */
export function createProviderFaults(deps: { db: Db; log: Log; clock?: () => Date }) {
  const { db, log, clock = () => new Date() } = deps;
  const collection: Collection<ProviderFault> = db.collection(providerFaultsCollection.name);
  const present = createPresentFaults(collection, log);

  async function report(fault: ReportedFault, neededMinor: bigint | null): Promise<void> {
    const { provider, kind, name, met_by } = fault;
    const _id = kind === 'word' ? `${provider}/word/${name}` : `${provider}/${name}`;
    const now = clock();
    // A fault that is new has no such field.
    const goesOn = { $eq: [{ $type: '$ended_at' }, 'null'] };
    const needed = { $cond: [goesOn, { $min: ['$needed_minor', neededMinor] }, neededMinor] };
    const before = await collection.findOneAndUpdate(
      { _id },
      [
        {
          $set: {
            provider,
            kind,
            name,
            since: { $cond: [goesOn, '$since', now] },
            last_seen_at: now,
            needed_minor: needed,
            ...(met_by ? { met_by } : {}),
          },
        },
        { $set: { ended_at: null } },
      ],
      { upsert: true, returnDocument: 'before' },
    );
    present.expire();
    if (before && before.ended_at === null) return;
    log.error({ provider, [kind]: name }, 'a provider needs an operator');
  }

  return {
    /** Stores a fault. `neededMinor`: the amount that our balance did not cover. */
    report: (provider: string, name: Fault, neededMinor: bigint | null = null) =>
      report({ provider, kind: 'fault', name }, neededMinor),

    /** Stores a word that the adapter has no entry for. */
    reportWord: async (provider: string, word: string) =>
      report({ provider, kind: 'word', name: WORD.test(word) ? word : 'unreadable' }, null),

    reportOfOne: createReportOfOne(collection, report, clock),

    /** True if a provider may have a fault. Reads nothing itself, so that submissions without a fault cost nothing. */
    mayStop: present.any,

    /** The fault, of those that `stop`, because of which nothing is submitted to the provider for the first time; or null. */
    stopping: present.stopping,

    /**
     * Ends all faults and words of a provider in the transaction of the session, and returns their names. `expire` makes
     * the end known to this process after the commit.
     */
    async endAll(provider: string, session: ClientSession): Promise<string[]> {
      const lasting = { provider, ended_at: null };
      const found = await collection.find(lasting, { session }).sort({ since: 1 }).toArray();
      const ids = found.map(({ _id }) => _id);
      // The records that met a word count anew after an operator has ended it.
      const ended = { $set: { ended_at: clock() }, $unset: { met_by: '' as const } };
      await collection.updateMany({ _id: { $in: ids } }, ended, { session });
      return found.map(({ name }) => name);
    },

    /** The faults are read again before the next decision. */
    expire: present.expire,

    /** Ends a fault: first submissions go on. Returns false if it did not last. */
    async end(provider: string, name: string): Promise<boolean> {
      const { modifiedCount } = await collection.updateOne(
        { provider, kind: 'fault', name, ended_at: null },
        { $set: { ended_at: clock() } },
      );
      present.expire();
      if (modifiedCount > 0) log.info({ provider, fault: name }, 'a fault of a provider has ended');
      return modifiedCount > 0;
    },

    /** The faults that last, and those that have ended with `ended`. */
    list: ({ ended = false } = {}): Promise<ProviderFault[]> =>
      collection
        .find(ended ? {} : { ended_at: null })
        .sort({ since: 1 })
        .toArray(),
  };
}

type ReportedFault = Pick<ProviderFault, 'provider' | 'kind' | 'name' | 'met_by'>;
type Report = (fault: ReportedFault, neededMinor: bigint | null) => Promise<void>;

/**
 * Creates the function that stores a fault which may be about one record alone: as a word, which stops nothing. Once several
 * records, of two tenants at least, have met it within an hour, it is a fault of the whole provider.
 */
const createReportOfOne =
  (collection: Collection<ProviderFault>, report: Report, clock: () => Date) =>
  async (provider: string, name: Fault, { record, tenant }: Omit<MetBy, 'at'>): Promise<void> => {
    const _id = `${provider}/word/${name}`;
    const met = { record, tenant, at: clock() };
    const met_by = metByWith(await collection.findOne({ _id }), met);
    await report({ provider, kind: 'word', name, met_by }, null);
    if (met_by.length === MANY_RECORDS) await report({ provider, kind: 'fault', name }, null);
  };

/** The faults that last, as this process has read them within the last second. */
function createPresentFaults(collection: Collection<ProviderFault>, log: Log) {
  let known: ProviderFault[] | null = null;
  let readAt = -Infinity;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    try {
      known = await collection.find({ ended_at: null, kind: 'fault' }).toArray();
      readAt = performance.now();
    } finally {
      reading = null;
    }
  }
  const isOld = () => performance.now() - readAt > KEPT_MS;

  return {
    /** The next look reads them again. */
    expire: () => void (readAt = -Infinity),
    any: (): boolean => {
      if (isOld() && reading === null) {
        reading = read();
        reading.catch((error: unknown) =>
          log.warn({ err: error }, 'could not read provider faults'),
        );
      }
      return known === null || known.length > 0;
    },
    stopping: async (
      provider: string,
      stops: (fault: string) => boolean = () => true,
    ): Promise<ProviderFault | null> => {
      if (isOld()) await (reading ??= read());
      const of = known?.find((fault) => fault.provider === provider && stops(fault.name));
      return of ?? null;
    },
  };
}
