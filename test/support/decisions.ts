import { decide } from '../../src/ledger/decide.js';
import type { Item } from '../../src/ledger/kinds.js';
import {
  forRecords,
  RECORD_NAMES,
  referenceKey,
  type Snapshot,
  type Writes,
} from '../../src/ledger/view.js';
import { NOW } from './transfers.js';

/** A database in memory, good enough for one thing: what one decision wrote is what the next one reads. */
export function apply(snapshot: Snapshot, writes: Writes): Snapshot {
  const next: Snapshot = {
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
    for (const { _id, tenant, reference } of writes.created[collection]) {
      next.references.set(referenceKey({ collection, tenant, reference }), _id);
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
  for (const wallet of writes.wallets) next.wallets.set(wallet.tenant, wallet);
  return next;
}

export function run(snapshot: Snapshot, batches: Item[][]) {
  const outcomes = [];
  const commits: Writes[] = [];
  let state = snapshot;
  for (const batch of batches) {
    const decided = decide(state, batch, NOW);
    outcomes.push(...decided.outcomes);
    commits.push(decided.writes);
    state = apply(state, decided.writes);
  }
  return { state, outcomes, commits };
}

export function balances(state: Snapshot): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { legs } of state.postings.values()) {
    for (const leg of legs) sums.set(leg.account, (sums.get(leg.account) ?? 0n) + leg.amountMinor);
  }
  return sums;
}
