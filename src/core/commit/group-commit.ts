import { MongoError, MongoServerError, type ClientSession } from 'mongodb';
import { createLane, OverloadError, type Lane, type LaneOptions } from '../../shared/batching.js';
import { TRANSACTION_OPTIONS, type Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { failpoint } from '../../shared/failpoints.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../shared/errors.js';
import type { RecordCollection, RecordSet, StoredRecord } from './collection.js';
import { noForwarding, type Forwarding } from './forwarding.js';
import {
  type CommitAttempt,
  type Mutation,
  type MutationInput,
  type PlannedMutation,
} from './mutation.js';
import { appendAudit } from '../audit/store.js';
import { noOutbox, type Outbox } from '../webhooks/outbox.js';
import { byTenant } from './by-tenant.js';
import { decide, NeedsFullRead, type Writes } from './unit-of-work.js';
import { BatchTooLarge, bytesOf, MAX_BATCH_BYTES } from './batch-bytes.js';
import {
  applyWrites,
  bookingTime,
  boundedNow,
  claimedAt,
  ledgerCollections,
  ownWallets,
  readSnapshot,
} from './store.js';

/** Transactions that touch one wallet at once conflict, so all mutations of a wallet go through one lane. */
const WALLET_LANES = 4;
/**
 * Captures and submit permits touch no wallet. A lane of their own keeps them from waiting behind acceptance. It is one, so that
 * those of a micro-batch share commits; behind a mongos, where each tenant has its own commits, there are two.
 */
const captureLanesOf = (isMongos: boolean): number => (isMongos ? 2 : 1);
const MAX_BATCH = 256;
const MAX_WAITING = 4_096;
/** Callers get a 503 after this time. A mutation that waited longer is dropped before its batch begins, never during it. */
const MAX_WAIT_MS = 4_000;
/** An exchange with another process and the requests of its clients take less, as a rule. */
const GATHERED_WITHIN_MS = 4;
/** A larger batch reads everything: its mutations share the round trips, and one duplicate would spoil the work of many. */
const MAX_PARTIAL_READ = 16;
const DEFAULT_BYTES = 2_000;
/** The settings of each lane, but what runs its batches. */
const LANE: Omit<LaneOptions<PlannedMutation, CommitAttempt>, 'run'> = {
  maxBatch: MAX_BATCH,
  maxWaiting: MAX_WAITING,
  maxWaitMs: MAX_WAIT_MS,
  maxBatchWeight: MAX_BATCH_BYTES,
  weigh: ({ mutation, input }) => mutation.weigh?.(input) ?? DEFAULT_BYTES,
  isUrgent: ({ mutation }) => mutation.urgent === true,
  relayed: {
    isRelayed: ({ isForwarded }) => isForwarded === true,
    withinMs: GATHERED_WITHIN_MS,
  },
};
/** After so many conflicts, a batch of captures and permits is divided, so that one record delays none of the others. */
const MAX_SHARED_CONFLICTS = 3;
/** Time during which a batch is decided again after conflicts, and its commit is repeated. */
const RETRY_FOR_MS = 5_000;

/** The one way to change records, wallets and postings. */
export type GroupCommit = {
  /**
   * Commits one mutation together with the others that wait, and returns its own result. Rejects with `OverloadError` if
   * nothing was done, and with `service_unavailable` if the result is unknown: the same input may then be committed again.
   */
  commit<I extends MutationInput, R>(mutation: Mutation<I, R>, input: I): Promise<R>;
  /** Commits a mutation in this process, even if another one commits the others of its wallet. */
  commitHere(planned: PlannedMutation): Promise<CommitAttempt>;
  /** True if this tenant has webhook endpoints, so that its changes must be committed together with their events. */
  hasSubscribers(tenantId: string): Promise<boolean>;
  /** Calls `listener` with the new records of this collection after each commit that creates some. */
  onCreated<R extends StoredRecord>(
    of: RecordCollection<R>,
    listener: (created: R[]) => void,
  ): void;
  /** Calls `listener` with the records that each commit has created or changed. It must not fail. */
  onChanged(listener: (changes: RecordChange[]) => void): void;
  /** Calls `listener` after each batch. It must not fail. */
  onBatch(listener: (batch: CommittedBatch) => void): void;
  /** Resolves when every mutation that was handed in has its result. */
  idle(): Promise<void>;
  /** The number of mutations whose batch has not begun. */
  waiting(): number;
};

/** One batch: its size, the time until its end, how often it conflicted with other processes, and whether it was committed. */
export type CommittedBatch = {
  mutations: number;
  seconds: number;
  conflicts: number;
  committed: boolean;
};

/** A record as a commit has left it, and before; `before` is missing if the commit has created it. */
export type RecordChange = {
  collection: string;
  before: StoredRecord | undefined;
  after: StoredRecord;
};

/** True if this collection lacks a unique index, so that duplicates would not be detected. */
type LacksIndex = (collection: string) => boolean | Promise<boolean>;

/**
 * The commit engine of one process. `outbox` writes webhook events in the transactions that cause them. Mutations that
 * create records in a collection that lacks a unique index are answered 503, and the others are committed. Transactions of
 * several processes that change one wallet conflict: `forwarding` hands its mutations to one of them.
 */
export function createGroupCommit(
  { client, db, isMongos = false }: Database,
  outbox: Outbox = noOutbox,
  lacksIndex: LacksIndex = () => false,
  forwarding: Forwarding = noForwarding,
): GroupCommit {
  const listeners = createListeners();
  const transact = createTransact(db, outbox, lacksIndex, listeners.committed);
  const commitBatch = committing(retryConflicts(client, transact, forwarding, listeners.ended));
  const newLane = (of: { isRepeat: boolean; maxConflicts: number }) => {
    const run = (batch: PlannedMutation[]) => {
      const isRepeat = of.isRepeat || batch.some((each) => each.isRepeat === true);
      return commitBatch(batch, { ...of, isRepeat });
    };
    return createLane<PlannedMutation, CommitAttempt>({
      ...LANE,
      run: isMongos ? byTenant(run) : run,
    });
  };
  const captureLanes = captureLanesOf(isMongos);
  const lanes = Array.from({ length: WALLET_LANES + captureLanes }, (_, i) =>
    newLane({ isRepeat: false, maxConflicts: i < WALLET_LANES ? Infinity : MAX_SHARED_CONFLICTS }),
  );
  /** Captures and permits whose record another transaction holds: they wait for it beside the others. */
  const blocked = newLane({ isRepeat: true, maxConflicts: Infinity });

  async function commitHere(planned: PlannedMutation): Promise<CommitAttempt> {
    const lane = lanes[laneOf(planned, captureLanes)] as Lane<PlannedMutation, CommitAttempt>;
    const attempt = await lane.enqueue(planned);
    const isBlocked = 'error' in attempt && attempt.error instanceof Blocked;
    return isBlocked ? blocked.enqueue(planned) : attempt;
  }

  return {
    commitHere,
    async commit<I extends MutationInput, R>(mutation: Mutation<I, R>, input: I): Promise<R> {
      // The types of both fit here, so that lanes can mix mutations.
      const planned: PlannedMutation = { mutation, input };
      const forwarded = leavesWallet(planned) ? null : await forwarding.forward(planned);
      const attempt =
        forwarded ?? (await commitHere(planned).catch((error: unknown) => ({ error })));
      if ('error' in attempt) throw planned.isRepeat ? unknownIf(attempt.error) : attempt.error;
      // `decide` returns the results in the order of the batch, and each mutation types its own.
      return attempt.result as R;
    },
    hasSubscribers: (tenantId) => outbox.hasSubscribers(tenantId),
    ...listeners.of,
    async idle() {
      await Promise.all(lanes.map((lane) => lane.idle()));
      await blocked.idle();
    },
    waiting: () => [...lanes, blocked].reduce((sum, lane) => sum + lane.waiting(), 0),
  };
}

/**
 * One transaction for the batch. If one mutation spoils it, the halves are tried alone until that one is found. A batch
 * that would write too much is divided by its size.
 */
function committing(decideUntilCommitted: ReturnType<typeof retryConflicts>) {
  return async function commitBatch(
    batch: PlannedMutation[],
    tries: Tries,
  ): Promise<CommitAttempt[]> {
    try {
      const results = await decideUntilCommitted(batch, tries);
      return results.map((result) => ({ result }));
    } catch (error) {
      if (error instanceof TooLate) {
        const others = batch.filter((each) => !error.late.has(each));
        const ended = others.length > 0 ? await commitBatch(others, tries) : [];
        return batch.map((each) =>
          error.late.has(each) ? { error } : (ended.shift() ?? { error }),
        );
      }
      if (batch.length === 1 || !mayBeCausedByOneMutation(error))
        return batch.map(() => ({ error: error instanceof MissingIndex ? error.refusal : error }));
      const size = Math.ceil(batch.length / (error instanceof BatchTooLarge ? error.parts : 2));
      // The conflict of a half shows at once; repeats of each would make the others wait.
      const maxConflicts = error instanceof Blocked ? 1 : tries.maxConflicts;
      const attempts: CommitAttempt[] = [];
      for (let at = 0; at < batch.length; at += size) {
        const part = batch.slice(at, at + size);
        attempts.push(...(await commitBatch(part, { isRepeat: true, maxConflicts })));
      }
      return attempts;
    }
  };
}

/** The listeners of an engine, and the calls that tell them. */
function createListeners() {
  const created: ((records: RecordSet) => void)[] = [];
  const changed: ((changes: RecordChange[]) => void)[] = [];
  const batches: ((batch: CommittedBatch) => void)[] = [];
  const of: Pick<GroupCommit, 'onCreated' | 'onChanged' | 'onBatch'> = {
    onCreated: (collection, listener) =>
      void created.push((records) => {
        const found = records.all(collection);
        if (found.length > 0) listener(found);
      }),
    onChanged: (listener) => void changed.push(listener),
    onBatch: (listener) => void batches.push(listener),
  };
  return {
    of,
    committed: (writes: Pick<Writes, 'created' | 'changed'>, before: RecordSet): void => {
      created.forEach((listener) => listener(writes.created));
      const changes = [...changesOf(writes.created, before), ...changesOf(writes.changed, before)];
      changed.forEach((listener) => listener(changes));
    },
    ended: (batch: CommittedBatch): void => batches.forEach((listener) => listener(batch)),
  };
}

const changesOf = (records: RecordSet, before: RecordSet): RecordChange[] =>
  records.collections().flatMap((of) =>
    records.all(of).map((after) => ({
      collection: of.name,
      before: before.get(of, after._id),
      after,
    })),
  );

/** Another transaction has a record of the batch. Nothing was written. */
class Blocked extends Error {
  constructor(cause: unknown) {
    super('another transaction has a record of this batch', { cause });
  }
}

/** `isRepeat`: the batch may have been decided before. `maxConflicts`: then it is divided. */
type Tries = { isRepeat: boolean; maxConflicts: number };

/** Decides a batch again after conflicts, until it is committed, its cause is another one, or time is up. */
function retryConflicts(
  client: Database['client'],
  transact: ReturnType<typeof createTransact>,
  forwarding: Forwarding,
  notify: (batch: CommittedBatch) => void,
) {
  return async (batch: PlannedMutation[], tries: Tries): Promise<unknown[]> => {
    const began = performance.now();
    const deadline = began + RETRY_FOR_MS;
    const ended = (conflicts: number, committed: boolean) => {
      const seconds = (performance.now() - began) / 1000;
      notify({ mutations: batch.length, seconds, conflicts, committed });
    };
    for (let attempt = 0; ; attempt += 1) {
      const session = client.startSession();
      try {
        const results = await transact(batch, session, tries.isRepeat || attempt > 0, deadline);
        ended(attempt, true);
        return results;
      } catch (error) {
        if (!isConflict(error)) {
          ended(attempt, false);
          throw error;
        }
        // A first try or a racing process explains a duplicate. One that stays has another cause: find its mutation.
        const stays = isDuplicate(error) && attempt >= MAX_DUPLICATES;
        if (stays || performance.now() > deadline) {
          ended(attempt + 1, false);
          throw stays ? error : unavailable(error);
        }
        if (isWriteConflict(error) && attempt + 1 >= tries.maxConflicts) {
          ended(attempt + 1, false);
          throw new Blocked(error);
        }
        if (!isDuplicate(error)) forwarding.conflicted(walletsOf(batch));
        // Another process has the same wallet: spread the next try.
        await pause(Math.random() * Math.min(2 ** attempt, 64));
      } finally {
        await session.endSession();
      }
    }
  };
}

/** The batch creates records in a collection that lacks a unique index. Nothing was written. */
class MissingIndex extends Error {
  constructor(collection: string) {
    super(`a unique index of ${collection} is missing`);
  }

  get refusal(): ApiError {
    return new ApiError('service_unavailable', { retryAfterSeconds: 5, cause: this });
  }
}

/** The senders of these forwarded mutations may have given up. Nothing was written. */
class TooLate extends Error {
  constructor(readonly late: ReadonlySet<PlannedMutation>) {
    super('the sender of a forwarded mutation may have given up');
  }
}

/** One transaction: reads what the batch names, decides all of it, writes it with its events, and commits. */
function createTransact(
  db: Database['db'],
  outbox: Outbox,
  lacksIndex: LacksIndex,
  notify: (writes: Pick<Writes, 'created' | 'changed'>, before: RecordSet) => void,
) {
  const collections = ledgerCollections(db);

  async function readAndDecide(batch: PlannedMutation[], session: ClientSession, full: boolean) {
    const decideNow = async (fullRead: boolean) => {
      const snapshot = await readSnapshot(collections, batch, fullRead, session);
      // After the snapshot: a change of the wallet since then conflicts, and the mutation is decided again.
      const late = batch.filter(({ isTooLate }) => isTooLate?.());
      if (late.length > 0) throw new TooLate(new Set(late));
      const now = boundedNow(session.operationTime);
      const { writes, results } = decide(snapshot, batch, now);
      const at = bookingTime(session.operationTime, now);
      return {
        results,
        before: snapshot.records,
        writes: {
          ...writes,
          postings: writes.postings.map((p) => ({ ...p, at })),
          newKeys: writes.newKeys.map((key) => claimedAt(key, at)),
          renewedKeys: writes.renewedKeys.map((key) => claimedAt(key, at)),
        },
      };
    };
    try {
      return await decideNow(full);
    } catch (error) {
      if (!(error instanceof NeedsFullRead)) throw error;
      return decideNow(true);
    }
  }

  return async (
    batch: PlannedMutation[],
    session: ClientSession,
    isRepeat: boolean,
    deadline: number,
  ): Promise<unknown[]> => {
    session.startTransaction(TRANSACTION_OPTIONS);
    const long = batch
      .filter(({ mutation }) => mutation.long)
      .map(({ input: { tenantId } }) => tenantId);
    if (long.length > 0) await ownWallets(collections, long, session);
    const readsFully = batch.some(({ mutation, input }) => mutation.readsFully?.(input));
    const full = isRepeat || readsFully || batch.length > MAX_PARTIAL_READ;
    const { writes, results, before } = await readAndDecide(batch, session, full);
    for (const { name } of writes.created.collections()) {
      if (await lacksIndex(name)) throw new MissingIndex(name);
    }
    const outgoing = writes.events.length > 0 ? await outbox.address(writes.events) : [];
    const bytes = batch.length > 1 ? bytesOf(writes, outgoing) : 0;
    if (bytes > MAX_BATCH_BYTES) throw new BatchTooLarge(bytes);
    if (outgoing.length > 0) await outbox.write(outgoing, session);
    await applyWrites(collections, writes, session);
    if (writes.acts.length > 0) await appendAudit(db, writes.acts, session);
    // Commit also if nothing is written: only a commit makes sure that the data that was read cannot be rolled back.
    failpoint('commit.before');
    await commitUntilKnown(session, deadline);
    failpoint('commit.after');
    if (outgoing.length > 0) outbox.send(outgoing);
    notify(writes, before);
    return results;
  };
}

/** The lane of a mutation: by its tenant, among those of its kind. */
const laneOf = (planned: PlannedMutation, captureLanes: number): number => {
  const number = hash(planned.input.tenantId);
  return leavesWallet(planned) ? WALLET_LANES + (number % captureLanes) : number % WALLET_LANES;
};

const leavesWallet = ({ mutation, input }: PlannedMutation): boolean =>
  input.id !== undefined && mutation.leavesWallet?.(input) === true;

/** The tenants whose wallets these mutations may change. */
const walletsOf = (batch: readonly PlannedMutation[]): Set<string> =>
  new Set(batch.filter((each) => !leavesWallet(each)).map(({ input }) => input.tenantId));

/** Repeats the commit until its result is known or time is up. A repeated commit of one transaction is harmless. */
async function commitUntilKnown(session: ClientSession, deadline: number): Promise<void> {
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      if (!mayHaveCommitted(error)) throw error;
      if (performance.now() > deadline) {
        throw new ApiError('service_unavailable', { message: OUTCOME_UNKNOWN, cause: error });
      }
      await pause(50);
    }
  }
}

/**
 * True if a commit that failed with this error may have happened. The driver labels such errors, except when its own
 * second try found no server. Only the server's answer that the transaction is gone proves that it did not.
 */
const mayHaveCommitted = (error: unknown): boolean =>
  error instanceof MongoError &&
  (error.hasErrorLabel('UnknownTransactionCommitResult') ||
    (isDatabaseUnavailable(error) && !error.hasErrorLabel('TransientTransactionError')));

const MAX_DUPLICATES = 12;

/** True if a key, a reference or a document was taken by another commit: read everything and decide again. */
function isConflict(error: unknown): boolean {
  if (isDuplicate(error)) return true;
  return error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');
}

const WRITE_CONFLICT = 112;

/** True if another transaction has changed a document of this one, or is about to. */
const isWriteConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === WRITE_CONFLICT;

/** True if one mutation may be the cause. An unreachable or slow database is no reason to try them one by one. */
const mayBeCausedByOneMutation = (error: unknown) =>
  !(error instanceof ApiError || isDatabaseUnavailable(error));

/**
 * The error of a mutation that another process may have committed. A refusal is final: the decision has read what the other process
 * committed. An overloaded engine and a database that is away have read nothing, so the outcome is unknown.
 */
function unknownIf(error: unknown): unknown {
  const isAway =
    error instanceof OverloadError ||
    isDatabaseUnavailable(error) ||
    (error instanceof ApiError && error.code === 'service_unavailable');
  if (!isAway) return error;
  return new ApiError('service_unavailable', { message: OUTCOME_UNKNOWN, cause: error });
}

const unavailable = (cause: unknown) => new ApiError('service_unavailable', { cause });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function hash(text: string): number {
  let h = 0;
  for (let i = 0; i < text.length; i += 1) h = (Math.imul(h, 31) + text.charCodeAt(i)) >>> 0;
  return h;
}
