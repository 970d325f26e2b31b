import { decide } from '../../src/core/commit/decide.js';
import { mutationOf, type AnyMutationInput } from '../../src/core/idempotency/save-refusal.js';
import {
  forRecords,
  RECORD_NAMES,
  referenceKey,
  type Reads,
  type Snapshot,
  type Writes,
} from '../../src/core/commit/unit-of-work.js';
import { NOW } from './transfers.js';

/** Applies the writes of one decision to an in-memory snapshot, which the next decision reads. */
export function apply(snapshot: Snapshot, writes: Writes): Snapshot {
  const next: Snapshot = {
    fullRead: true,
    keys: new Map(snapshot.keys),
    references: new Map(snapshot.references),
    records: forRecords(
      (name) => new Map<string, unknown>(snapshot.records[name]),
    ) as Snapshot['records'],
    wallets: new Map(snapshot.wallets),
    postings: new Map(snapshot.postings),
  };
  for (const key of [...writes.newKeys, ...writes.renewedKeys]) next.keys.set(key.id, key);
  for (const collection of ['transfers', 'card_operations', 'charges', 'refunds'] as const) {
    for (const { _id, tenant_id: tenantId, reference } of writes.created[collection]) {
      next.references.set(referenceKey({ collection, tenantId, reference }), _id);
    }
  }
  for (const name of RECORD_NAMES) {
    const records = next.records[name] as Map<string, unknown>;
    for (const record of [...writes.created[name], ...writes.changed[name]]) {
      records.set(record._id, record);
    }
  }
  for (const posting of writes.postings) {
    if (next.postings.has(posting.id)) throw new Error(`posting ${posting.id} written twice`);
    next.postings.set(posting.id, posting);
  }
  for (const wallet of writes.wallets) next.wallets.set(wallet.tenantId, wallet);
  return next;
}

/** The snapshot that a first attempt of these mutations reads. */
export function firstSight(state: Snapshot, items: AnyMutationInput[]): Snapshot {
  const reads = items.map((item) => mutationOf(item).reads(item, false));
  const only = <T>(all: Map<string, T>, named: (read: Reads) => string[] | undefined) => {
    const names = new Set(reads.flatMap((read) => named(read) ?? []));
    return new Map([...all].filter(([name]) => names.has(name)));
  };
  return {
    fullRead: false,
    keys: only(state.keys, (read) => read.keys),
    references: only(state.references, (read) => read.references?.map(referenceKey)),
    records: forRecords((name) =>
      only<unknown>(state.records[name], (read) => read.records?.[name]),
    ) as Snapshot['records'],
    wallets: only(state.wallets, (read) => read.wallets),
    postings: only(state.postings, (read) => read.postings),
  };
}

/** Tells whether a unique index would refuse the writes. */
export const collides = (state: Snapshot, { newKeys, created }: Writes): boolean =>
  newKeys.some(({ id }) => state.keys.has(id)) ||
  RECORD_NAMES.some((name) => created[name].some(({ _id }) => state.records[name].has(_id))) ||
  created.transfers.some(({ tenant_id: tenantId, reference }) =>
    state.references.has(referenceKey({ collection: 'transfers', tenantId, reference })),
  );

/** Decides batches one after the other and collects their results and writes. */
export function run(snapshot: Snapshot, batches: AnyMutationInput[][]) {
  const outcomes = [];
  const commits: Writes[] = [];
  let state = snapshot;
  for (const batch of batches) {
    const decided = decide(state, batch, NOW);
    outcomes.push(...decided.results);
    commits.push(decided.writes);
    state = apply(state, decided.writes);
  }
  return { state, outcomes, commits };
}

/** The balance of every account in a snapshot. */
export function balances(state: Snapshot): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { legs } of state.postings.values()) {
    for (const leg of legs) sums.set(leg.account, (sums.get(leg.account) ?? 0n) + leg.amountMinor);
  }
  return sums;
}
