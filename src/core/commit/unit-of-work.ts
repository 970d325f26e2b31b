import type { Posting } from '../ledger/posting.js';
import { emptyWallet, type Wallet } from '../ledger/wallet.js';
import type { EventDraft } from '../webhooks/event.js';
import {
  type RecordCollection,
  type RecordKey,
  type RecordSet,
  type StoredRecord,
} from './collection.js';
import type { Counter } from './counter.js';
import type { Act, AuditDraft } from '../audit/entry.js';
import {
  ApprovalRefused,
  approvals,
  needsDecision,
  problemOfUse,
  TargetChanged,
  used,
} from '../approvals/approval.js';
import type { MutationInput, PlannedMutation } from './mutation.js';
import type { ClaimedKey } from './accept.js';

/** A client's own name for a record, unique among the tenant's records of that collection. */
export type Reference = { collection: RecordCollection; tenantId: string; reference: string };

/** A reference as one string, for maps. */
export const referenceKey = ({ collection, tenantId, reference }: Reference) =>
  `${collection.name}/${tenantId}/${reference}`;

/** Records that were found, for `Reads.further`. */
export type FoundRecords = Pick<RecordSet, 'get'>;

/** The data that a mutation must see before it can be decided. It is read as data of the input's tenant. */
export type Reads = {
  keys?: string[];
  references?: Reference[];
  records?: RecordKey[];
  /** Postings that it would repeat. */
  postings?: string[];
  /** Wallets whose document it may change, by tenant. */
  wallets?: string[];
  /** Records whose ids are known only after the records above are read. */
  further?: (found: FoundRecords) => RecordKey[];
};

/** The data that the transaction read. It contains only what the mutations name. */
export type Snapshot = {
  /**
   * True: a missing key, reference or record does not exist. False: a first try, which does not read what a unique
   * index protects.
   */
  fullRead: boolean;
  keys: Map<string, ClaimedKey>;
  /** Ids of the records that have these references, by `referenceKey`. */
  references: Map<string, string>;
  records: RecordSet;
  postings: Map<string, Posting>;
  wallets: Map<string, Wallet>;
};

/** An empty set of records. */
export function createRecordSet(): RecordSet {
  const byCollection = new Map<string, { of: RecordCollection; records: Map<string, unknown> }>();
  const recordsOf = (of: RecordCollection) => byCollection.get(of.name)?.records;
  return {
    // A collection's records have its type: `set` is the only way in.
    get: <R extends StoredRecord>(of: RecordCollection<R>, id: string) =>
      recordsOf(of)?.get(id) as R | undefined,
    set(of, record) {
      const entry = byCollection.get(of.name) ?? { of, records: new Map<string, unknown>() };
      byCollection.set(of.name, entry);
      entry.records.set(record._id, record);
    },
    has: (of, id) => recordsOf(of)?.has(id) ?? false,
    all: <R extends StoredRecord>(of: RecordCollection<R>) =>
      [...(recordsOf(of)?.values() ?? [])] as R[],
    collections: () => [...byCollection.values()].map(({ of }) => of),
  };
}

/** The changes of one counter. */
export type Counted = { counter: Counter; changes: unknown[] };

/** Everything that one transaction writes. */
export type Writes = {
  newKeys: ClaimedKey[];
  /** Expired keys that are used again. */
  renewedKeys: ClaimedKey[];
  created: RecordSet;
  changed: RecordSet;
  postings: Posting[];
  /** Allowed only for tenants whose wallet the commit writes too. */
  counts: Counted[];
  wallets: Wallet[];
  /** Webhook events of the changes; written for tenants that have an endpoint. */
  events: EventDraft[];
  /** Entries of the audit log: the acts of operators among the mutations. */
  acts: AuditDraft[];
};

/** The state as a mutation sees and changes it. */
export type UnitOfWork = ReturnType<typeof createUnitOfWork>;

/** Thrown by a first try that cannot be decided without reading everything. Nothing has failed. */
export class NeedsFullRead extends Error {}

/** The times of a record that the dispatcher checks; missing in other records. */
type Checked = { created_at?: Date; next_check_at?: Date | null };

/**
 * A record of a process whose clock is ahead of the decision's time is checked as much earlier. If that process dies before it has
 * started the record's workflow, nobody else would start it until that time has come.
 */
function checkedInTime<R extends StoredRecord>(record: R & Checked, now: Date): R {
  const { created_at: createdAt, next_check_at: dueAt } = record;
  if (!createdAt || !dueAt || createdAt <= now) return record;
  const aheadMs = createdAt.getTime() - now.getTime();
  return { ...record, next_check_at: new Date(dueAt.getTime() - aheadMs) };
}

/** The snapshot with the effects of the mutations so far laid over it. `now`: the time of the decision. */
export function createUnitOfWork(snapshot: Snapshot, now: Date) {
  const keys = new Map<string, ClaimedKey>();
  const references = new Map<string, string>();
  const created = createRecordSet();
  const changed = createRecordSet();
  const wallets = new Map<string, Wallet>();
  const postings = new Map<string, Posting>();
  const events: EventDraft[] = [];
  const counts = new Map<Counter, unknown[]>();
  const acts: AuditDraft[] = [];
  let requestId: string | null = null;
  return {
    /** The request that is carried out from here on: the records that it creates keep its id. Null: none is. */
    carryOut: (id: string | null) => void (requestId = id),

    /**
     * Throws `NeedsFullRead` in a first try. A mutation that takes a key or a reference need not read it before: if it is
     * taken, its index collides, everything is read, and the mutation is decided again. A refusal takes none, so it calls this.
     */
    requireFullRead(): void {
      if (!snapshot.fullRead) throw new NeedsFullRead();
    },

    key: (id: string) => keys.get(id) ?? snapshot.keys.get(id),
    claim: (key: ClaimedKey) => void keys.set(key.id, key),

    /** The id of the record that has this reference. */
    reference: (of: Reference) =>
      references.get(referenceKey(of)) ?? snapshot.references.get(referenceKey(of)),
    takeReference: (of: Reference, id: string) => void references.set(referenceKey(of), id),

    get: <R extends StoredRecord>(of: RecordCollection<R>, id: string): R | undefined =>
      changed.get(of, id) ?? created.get(of, id) ?? snapshot.records.get(of, id),
    create<R extends StoredRecord>(of: RecordCollection<R>, given: R): void {
      const record = checkedInTime(given, now);
      created.set(of, requestId === null ? record : { ...record, http_request_id: requestId });
    },
    change<R extends StoredRecord>(of: RecordCollection<R>, record: R): void {
      const own = created.get(of, record._id);
      if (own === undefined) return changed.set(of, record);
      const { http_request_id: id } = own;
      created.set(of, id === undefined ? record : { ...record, http_request_id: id });
    },

    wallet: (tenantId: string) =>
      wallets.get(tenantId) ?? snapshot.wallets.get(tenantId) ?? emptyWallet(tenantId),
    changeWallet: (wallet: Wallet) => void wallets.set(wallet.tenantId, wallet),

    posting: (id: string) => postings.get(id) ?? snapshot.postings.get(id),
    post: (entry: Posting) => void postings.set(entry.id, entry),

    /** Adds to a counter; null changes nothing. */
    count<C>(counter: Counter<C>, change: C | null): void {
      if (change === null) return;
      const key = counter as Counter;
      const earlier = counts.get(key);
      if (earlier) earlier.push(change);
      else counts.set(key, [change]);
    },
    /** Writes a webhook event with the commit; null is none. */
    emit: (event: EventDraft | null) => void (event && events.push(event)),
    /** Writes an entry of the audit log with the commit. */
    audit: (act: AuditDraft) => void acts.push(act),

    writes: (): Writes => ({
      newKeys: [...keys.values()].filter((key) => !snapshot.keys.has(key.id)),
      renewedKeys: [...keys.values()].filter((key) => snapshot.keys.has(key.id)),
      created,
      changed,
      postings: [...postings.values()],
      counts: [...counts].map(([counter, changes]) => ({ counter, changes: counter.sum(changes) })),
      wallets: [...wallets.values()].map((w) => ({ ...w, version: w.version + 1n })),
      events,
      acts,
    }),
  };
}

/** The act of an operator in a mutation's input. */
export const actIn = ({ act, fact }: MutationInput): Act | undefined =>
  act ?? (fact !== undefined && hasAct(fact) ? fact.act : undefined);

/** The `X-Request-Id` of the request that a mutation carries out: that of a client or of an operator. */
export const requestIdIn = (input: MutationInput): string | null =>
  input.claim?.requestId ?? actIn(input)?.requestId ?? null;

const hasAct = (fact: object): fact is { act: Act | undefined } => 'act' in fact;

/**
 * All rules of a commit, without a database: mutations see the effects of those before them, each gets its own result, and
 * the writes of all of them are what one transaction has to write. Leaves `snapshot` as it is.
 */
export function decide(
  snapshot: Snapshot,
  planned: readonly PlannedMutation[],
  now: Date,
): { writes: Writes; results: unknown[] } {
  const uow = createUnitOfWork(snapshot, now);
  const results = planned.map((each) => decideOne(uow, each, now));
  return { writes: uow.writes(), results };
}

/**
 * Decides one mutation. An operator's act gets its entry in the audit log, with the target's state before and after, and uses
 * up its approval. Throws `ApprovalRefused` if the approval does not permit it, and `TargetChanged` if it may need one.
 */
function decideOne(uow: UnitOfWork, { mutation, input }: PlannedMutation, now: Date): unknown {
  const act = actIn(input);
  uow.carryOut(requestIdIn(input));
  if (!act) return mutation.decide(uow, input, now);
  const stateNow = (of: MutationInput) => mutation.audited?.(uow, of) ?? null;
  const before = stateNow(input);
  if (needsDecision(act, before)) throw new TargetChanged('the target has changed');
  if (act.approval !== null) {
    const approval = uow.get(approvals, act.approval);
    const problem = problemOfUse(approval, act, { state: before, now });
    if (problem !== null || !approval) {
      throw new ApprovalRefused(problem ?? 'no approval', act.approval);
    }
    if (approval.status !== 'used') uow.change(approvals, used(approval, act.id));
  }
  const result = mutation.decide(uow, input, now);
  uow.audit({ ...act, before, after: stateNow(input) });
  return result;
}
