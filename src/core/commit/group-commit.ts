import { MongoError, type ClientSession } from 'mongodb';
import { createLane, type Lane } from '../../shared/batching.js';
import { TRANSACTION_OPTIONS, type Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { failpoint } from '../../shared/failpoints.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../shared/errors.js';
import { decide } from './decide.js';
import { mutationOf, type AnyMutationInput, type AnyResult, type ResultOf } from './mutations.js';
import { noOutbox, type Outbox } from '../webhooks/outbox.js';
import { NeedsFullRead, type Writes } from './unit-of-work.js';
import { applyWrites, ledgerCollections, ownWallets, readSnapshot } from './store.js';

/** Transactions that touch one wallet at once conflict, so all work of a wallet goes through one lane. */
const WALLET_LANES = 4;
/** Captures and permissions touch no wallet: they have lanes of their own and never wait behind acceptance. */
const CAPTURE_LANES = 2;
const MAX_BATCH = 256;
const MAX_BATCH_BYTES = 1_000_000;
const MAX_WAITING = 4_096;
/** Callers are answered 503 after this; what waited longer is dropped before its batch begins, never during. */
const MAX_WAIT_MS = 4_000;
/** A larger batch reads all: its items share the round trips, and a duplicate among them would spoil the work of many. */
const MAX_PARTIAL_READ = 16;
/** How long a batch is decided again after conflicts and repeated commits. */
const RETRY_FOR_MS = 5_000;

export type GroupCommit = {
  /**
   * Commits one item together with whatever else is waiting, and answers its own outcome.
   * Rejects with `OverloadError` when nothing was done, and with `service_unavailable` when the outcome is unknown:
   * the same item may then be handed in again.
   */
  commit<I extends AnyMutationInput>(item: I): Promise<ResultOf<I>>;
  /** Whether this tenant is told of changes, so that they have to be committed with their events. */
  hasSubscribers(tenantId: string): Promise<boolean>;
  /** Tells of every record that was made, once it is committed: for what has to be started then. */
  onCreated(listener: (created: Writes['created']) => void): void;
  /** Resolves when all that was handed in has its answer. */
  idle(): Promise<void>;
  /** How many items wait for their batch to begin. */
  waiting(): number;
};

type CommitAttempt = { result: AnyResult } | { error: unknown };

export function createGroupCommit(
  { client, db }: Database,
  outbox: Outbox = noOutbox,
): GroupCommit {
  const listeners: ((created: Writes['created']) => void)[] = [];
  const notifyCreated = (created: Writes['created']) =>
    listeners.forEach((listener) => listener(created));
  const transact = createTransact(db, outbox, notifyCreated);
  const lanes = Array.from({ length: WALLET_LANES + CAPTURE_LANES }, () =>
    createLane<AnyMutationInput, CommitAttempt>({
      run: (items) => commitBatch(items, false),
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      maxWaitMs: MAX_WAIT_MS,
      maxBatchWeight: MAX_BATCH_BYTES,
      weigh,
    }),
  );

  /** One transaction for all of them; if one item spoils it, the halves go alone until that item is found. */
  async function commitBatch(
    items: AnyMutationInput[],
    isRepeat: boolean,
  ): Promise<CommitAttempt[]> {
    try {
      const results = await decideUntilCommitted(items, isRepeat);
      return results.map((result) => ({ result }));
    } catch (error) {
      if (items.length === 1 || !mayBeCausedByOneMutation(error))
        return items.map(() => ({ error }));
      const middle = items.length >> 1;
      const left = await commitBatch(items.slice(0, middle), true);
      return [...left, ...(await commitBatch(items.slice(middle), true))];
    }
  }

  async function decideUntilCommitted(
    items: AnyMutationInput[],
    isRepeat: boolean,
  ): Promise<AnyResult[]> {
    const deadline = performance.now() + RETRY_FOR_MS;
    for (let attempt = 0; ; attempt += 1) {
      const session = client.startSession();
      try {
        return await transact(items, session, isRepeat || attempt > 0, deadline);
      } catch (error) {
        if (!isConflict(error)) throw error;
        // A first try or a racing process explains a duplicate; one that stays is neither, and its item has to be found.
        if (isDuplicate(error) && attempt >= MAX_DUPLICATES) throw error;
        if (performance.now() > deadline) throw unavailable(error);
        // Another process has the same wallet: spread the next try.
        await pause(Math.random() * Math.min(2 ** attempt, 64));
      } finally {
        await session.endSession();
      }
    }
  }

  async function commit(item: AnyMutationInput): Promise<AnyResult> {
    const committed = await (lanes[laneOf(item)] as Lane<AnyMutationInput, CommitAttempt>).enqueue(
      item,
    );
    if ('error' in committed) throw committed.error;
    return committed.result;
  }

  return {
    // An item's kind decides its outcome's kind: `decide` answers them in order.
    commit: commit as GroupCommit['commit'],
    hasSubscribers: (tenantId) => outbox.isHeard(tenantId),
    onCreated: (listener) => void listeners.push(listener),
    idle: async () => void (await Promise.all(lanes.map((lane) => lane.idle()))),
    waiting: () => lanes.reduce((sum, lane) => sum + lane.waiting(), 0),
  };
}

const DEFAULT_BYTES = 2_000;
const weigh = (item: AnyMutationInput): number => mutationOf(item).weigh?.(item) ?? DEFAULT_BYTES;

/** One transaction: what the items name is read, all of it decided, written with its events, and committed. */
function createTransact(
  db: Database['db'],
  outbox: Outbox,
  notifyCreated: (records: Writes['created']) => void,
) {
  const collections = ledgerCollections(db);

  async function readAndDecide(
    items: AnyMutationInput[],
    session: ClientSession,
    fullRead: boolean,
  ) {
    const snapshot = await readSnapshot(collections, items, fullRead, session);
    try {
      return decide(snapshot, items, new Date());
    } catch (error) {
      if (!(error instanceof NeedsFullRead)) throw error;
      return decide(await readSnapshot(collections, items, true, session), items, new Date());
    }
  }

  return async (
    items: AnyMutationInput[],
    session: ClientSession,
    isRepeat: boolean,
    deadline: number,
  ): Promise<AnyResult[]> => {
    session.startTransaction(TRANSACTION_OPTIONS);
    const long = items.filter((item) => mutationOf(item).long).map((item) => item.tenantId);
    if (long.length > 0) await ownWallets(collections, long, session);
    const fullRead = isRepeat || long.length > 0 || items.length > MAX_PARTIAL_READ;
    const { writes, results } = await readAndDecide(items, session, fullRead);
    const outgoing = await outbox.address(writes.events);
    await outbox.write(outgoing, session);
    await applyWrites(collections, writes, session);
    // Also where nothing is written: only a commit makes sure that what was read can't be rolled back.
    failpoint('commit.before');
    await commitUntilKnown(session, deadline);
    failpoint('commit.after');
    outbox.send(outgoing);
    notifyCreated(writes.created);
    return results;
  };
}

/** The lane of an item: by its wallet, or by its own id where it leaves the wallet alone. */
function laneOf(item: AnyMutationInput): number {
  return 'id' in item && mutationOf(item).leavesWallet?.(item)
    ? WALLET_LANES + (hash(item.id) % CAPTURE_LANES)
    : hash(item.tenantId) % WALLET_LANES;
}

/** Commits until the result is known or time is up; a repeated commit of one transaction is harmless. */
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
 * Whether a commit that failed so may have happened. The driver says it by a label, but not where its own second try
 * found no server: only the server's word that the transaction is gone is an answer.
 */
const mayHaveCommitted = (error: unknown): boolean =>
  error instanceof MongoError &&
  (error.hasErrorLabel('UnknownTransactionCommitResult') ||
    (isDatabaseUnavailable(error) && !error.hasErrorLabel('TransientTransactionError')));

const MAX_DUPLICATES = 12;

/** Something was taken, before or just now: reading everything and deciding again gives the right answer. */
function isConflict(error: unknown): boolean {
  if (isDuplicate(error)) return true;
  return error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');
}

/** Whether an item may be the cause. A database that is away or slow is no reason to try the items one by one. */
const mayBeCausedByOneMutation = (error: unknown) =>
  !(error instanceof ApiError || isDatabaseUnavailable(error));

const unavailable = (cause: unknown) => new ApiError('service_unavailable', { cause });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function hash(text: string): number {
  let h = 0;
  for (let i = 0; i < text.length; i += 1) h = (Math.imul(h, 31) + text.charCodeAt(i)) >>> 0;
  return h;
}
