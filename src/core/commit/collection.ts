import type { CollectionSpec } from '../../platform/database/migrations.js';

/** Every record that a commit reads or writes: its id, and the tenant that owns it. */
export type StoredRecord = {
  _id: string;
  tenant_id: string;
  /** The `X-Request-Id` of the request that created it; missing if none did. Operators alone see it. */
  http_request_id?: string;
};

declare const recordType: unique symbol;

/**
 * A collection of records that commits create and change: its name, validator and indexes, and at compile time the type
 * of its records. A capability passes it by value, so that the commit engine needs no list of capabilities.
 */
export type RecordCollection<R extends StoredRecord = StoredRecord> = CollectionSpec & {
  /** Names one record, for `Reads.records`. */
  ref(id: string): RecordKey;
  /** Exists at compile time only: it carries the record's type. */
  readonly [recordType]?: R;
};

/** One record of one collection. */
export type RecordKey = { collection: RecordCollection; id: string };

/** Declares a collection of records. It may be sharded by tenant, unless `shardBy` is null. */
export function collection<R extends StoredRecord>(
  name: string,
  { shardBy = 'tenant_id', ...spec }: Omit<CollectionSpec, 'name'>,
): RecordCollection<R> {
  const declared: RecordCollection<R> = {
    name,
    ...spec,
    shardBy,
    ref: (id) => ({ collection: declared, id }),
  };
  return declared;
}

/** Records by collection and id. */
export type RecordSet = {
  get<R extends StoredRecord>(of: RecordCollection<R>, id: string): R | undefined;
  set<R extends StoredRecord>(of: RecordCollection<R>, record: R): void;
  has(of: RecordCollection, id: string): boolean;
  /** All records of one collection. */
  all<R extends StoredRecord>(of: RecordCollection<R>): R[];
  /** The collections that have records here. */
  collections(): RecordCollection[];
};
