import { cardOperations } from '../../src/capabilities/cards/card-operation.js';
import { charges } from '../../src/capabilities/charges/record.js';
import { refunds } from '../../src/capabilities/refunds/record.js';
import { transfers } from '../../src/capabilities/transfers/record.js';
import {
  type RecordCollection,
  type RecordSet,
  type StoredRecord,
} from '../../src/core/commit/collection.js';
import {
  decide as decidePlanned,
  referenceKey,
  type Reads,
  type Snapshot,
  type Writes,
  createRecordSet,
} from '../../src/core/commit/unit-of-work.js';
import { planned, type AnyMutation, type AnyResult } from './mutations.js';
import { NOW } from './transfers.js';

/** Decides named mutations on a snapshot. */
export const decide = (snapshot: Snapshot, mutations: readonly AnyMutation[], now: Date) => {
  const { writes, results } = decidePlanned(snapshot, mutations.map(planned), now);
  return { writes, results: results as AnyResult[] };
};

/** Collections whose records have references. */
const REFERENCED = [transfers, cardOperations, charges, refunds] as unknown as RecordCollection<
  StoredRecord & { reference: string }
>[];

/** A record set with the records of these sets; those of later sets take the place of earlier ones. */
export function recordSet(...sets: RecordSet[]): RecordSet {
  const joined = createRecordSet();
  for (const set of sets) {
    for (const of of set.collections()) for (const record of set.all(of)) joined.set(of, record);
  }
  return joined;
}

/** A database in memory: the next decision reads what this one wrote. */
export function apply(snapshot: Snapshot, writes: Writes): Snapshot {
  const next: Snapshot = {
    fullRead: true,
    keys: new Map(snapshot.keys),
    references: new Map(snapshot.references),
    records: recordSet(snapshot.records, writes.created, writes.changed),
    wallets: new Map(snapshot.wallets),
    postings: new Map(snapshot.postings),
  };
  for (const key of [...writes.newKeys, ...writes.renewedKeys]) next.keys.set(key.id, key);
  for (const collection of REFERENCED) {
    for (const { _id, tenant_id: tenantId, reference } of writes.created.all(collection)) {
      next.references.set(referenceKey({ collection, tenantId, reference }), _id);
    }
  }
  for (const posting of writes.postings) {
    if (next.postings.has(posting.id)) throw new Error(`posting ${posting.id} written twice`);
    next.postings.set(posting.id, posting);
  }
  for (const wallet of writes.wallets) next.wallets.set(wallet.tenantId, wallet);
  return next;
}

/** The part of a database that a first try of these mutations reads. */
export function firstSight(state: Snapshot, mutations: AnyMutation[]): Snapshot {
  const reads = mutations.map(planned).map(({ mutation, input }) => mutation.reads(input, false));
  const only = <T>(all: Map<string, T>, named: (read: Reads) => string[] | undefined) => {
    const names = new Set(reads.flatMap((read) => named(read) ?? []));
    return new Map([...all].filter(([name]) => names.has(name)));
  };
  const records = createRecordSet();
  for (const { collection, id } of reads.flatMap((read) => read.records ?? [])) {
    const found = state.records.get(collection, id);
    if (found) records.set(collection, found);
  }
  return {
    fullRead: false,
    keys: only(state.keys, (read) => read.keys),
    references: only(state.references, (read) => read.references?.map(referenceKey)),
    records,
    wallets: only(state.wallets, (read) => read.wallets),
    postings: only(state.postings, (read) => read.postings),
  };
}

/** True if a unique index would refuse these writes. */
export const collides = (state: Snapshot, { newKeys, created }: Writes): boolean =>
  newKeys.some(({ id }) => state.keys.has(id)) ||
  created
    .collections()
    .some((of) => created.all(of).some(({ _id }) => state.records.has(of, _id))) ||
  created
    .all(transfers)
    .some(({ tenant_id: tenantId, reference }) =>
      state.references.has(referenceKey({ collection: transfers, tenantId, reference })),
    );

/** Decides batch after batch, each on the writes of those before it. */
export function run(snapshot: Snapshot, batches: AnyMutation[][], now = NOW) {
  const outcomes: AnyResult[] = [];
  const commits: Writes[] = [];
  let state = snapshot;
  for (const batch of batches) {
    const decided = decide(state, batch, now);
    outcomes.push(...decided.results);
    commits.push(decided.writes);
    state = apply(state, decided.writes);
  }
  return { state, outcomes, commits };
}

/** The balance of each account: the sum of its legs. */
export function balances(state: Snapshot): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { legs } of state.postings.values()) {
    for (const leg of legs) sums.set(leg.account, (sums.get(leg.account) ?? 0n) + leg.amountMinor);
  }
  return sums;
}
