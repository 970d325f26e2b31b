import { setTimeout as sleep } from 'node:timers/promises';
import { MongoError, type ClientSession, type Db } from 'mongodb';
import {
  TRANSACTION_OPTIONS,
  withSnapshot,
  type Database,
} from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../shared/errors.js';
import {
  CHAIN_START,
  followChain,
  nextEntry,
  type Act,
  type AuditDraft,
  type AuditEntry,
  type AuditedState,
  type ChainEnd,
  type ChainProblem,
} from './entry.js';

type EndDocument = ChainEnd & { _id: 'end' };

const text = { bsonType: 'string', minLength: 1 };
const textOrNull = { bsonType: ['string', 'null'] };
const stateOrNull = { bsonType: ['object', 'null'] };

/** The audit log. Entries are only inserted. */
export const auditLogCollection: CollectionSpec = {
  name: 'audit_log',
  validator: {
    bsonType: 'object',
    required: ['act', 'at', 'actor', 'action', 'target', 'previous_hash', 'hash'],
    properties: {
      act: text,
      at: { bsonType: 'date' },
      actor: { bsonType: 'object', required: ['operator', 'name', 'roles'] },
      action: text,
      target: text,
      tenant_id: textOrNull,
      before: stateOrNull,
      after: stateOrNull,
      reason: textOrNull,
      request_id: textOrNull,
      approval: textOrNull,
      previous_hash: text,
      hash: text,
    },
  },
  indexes: [{ key: { act: 1 }, unique: true }, { key: { target: 1, _id: -1 } }],
  shardBy: null,
};

/** The end of the audit log's chain: one document, which every entry moves on. It shows that the last entries are there. */
export const auditEndCollection: CollectionSpec = {
  name: 'audit_end',
  validator: {
    bsonType: 'object',
    required: ['sequence', 'hash'],
    properties: { sequence: { bsonType: ['int', 'double'] }, hash: text },
  },
  indexes: [],
  shardBy: null,
};

const logOf = (db: Db) => db.collection<AuditEntry>(auditLogCollection.name);
const endOf = (db: Db) => db.collection<EndDocument>(auditEndCollection.name);

/**
 * Appends the entries of these acts in the transaction of the session. An act that has its entry already gets no second one:
 * its transaction was repeated. Transactions that append at once conflict, and all but one of them are tried again.
 */
export async function appendAudit(
  db: Db,
  drafts: readonly AuditDraft[],
  session: ClientSession,
): Promise<void> {
  const ids = drafts.map(({ id }) => id);
  const written = await logOf(db).distinct('act', { act: { $in: ids } }, { session });
  const fresh = drafts.filter(({ id }) => !written.includes(id));
  if (fresh.length === 0) return;
  let end: ChainEnd = (await endOf(db).findOne({ _id: 'end' }, { session })) ?? CHAIN_START;
  const before = end.sequence;
  const now = new Date();
  const entries = fresh.map((draft) => {
    const entry = nextEntry(end, draft, now);
    end = { sequence: entry._id, hash: entry.hash };
    return entry;
  });
  const next = { $set: { sequence: end.sequence, hash: end.hash } };
  // A chain that another transaction has begun collides here, and this one is tried again.
  const moved = { _id: 'end' as const, ...(before > 0 && { sequence: before }) };
  await endOf(db).updateOne(moved, next, { session, upsert: before === 0 });
  await logOf(db).insertMany(entries, { session });
}

/** The effect of an act, with the state of its target before and after. */
export type Effect<T> = { result: T; before: AuditedState; after: AuditedState };

type Work<T> = (session: ClientSession) => Promise<Effect<T> | null>;

/** The audit log. */
export type Audit = ReturnType<typeof createAudit>;

/** Filters of a list of entries. */
export type AuditSelection = { target?: string; operator?: string; action?: string };

/**
 * Uses up the approval of an act, if it has one, in the transaction of the act. `state` is that of the target before the
 * act. Throws if the approval does not permit the act.
 */
type UseApproval = (db: Db, act: Act, state: AuditedState, session: ClientSession) => Promise<void>;

/** Creates the audit log's readers and the transaction in which an act is carried out. */
export function createAudit(database: Database, useApproval: UseApproval) {
  const { db } = database;
  const inTurn = createTurns();
  const append = async <T>(
    act: Act,
    { result, before, after }: Effect<T>,
    session: ClientSession,
  ) => appendAudit(db, [{ ...act, before, after }], session).then(() => result);
  return {
    /**
     * Carries an act out, uses up its approval and writes its entry in one transaction. `work` may run several times, so it
     * must write through the session alone. Null of `work` means that the target does not exist: nothing is written. Throws
     * `ApprovalRefused` if the approval does not permit the act: nothing is written either.
     */
    act: <T>(act: Act, work: Work<T>): Promise<T | null> =>
      inTurn(database, async (session) => {
        const effect = await work(session);
        if (effect === null) return null;
        await useApproval(db, act, effect.before, session);
        return append(act, effect, session);
      }),

    /** Writes an entry beside an act, in one transaction with `work`. It uses no approval: the act itself has used it. */
    note: <T>(act: Act, work: Work<T>): Promise<T | null> =>
      inTurn(database, async (session) => {
        const effect = await work(session);
        return effect && append(act, effect, session);
      }),

    /**
     * Writes the entry of an act before its effect, which is no single transaction: a replay, a run over many records. Its
     * approval is used up by then, so that the run begins once.
     */
    record: (
      act: Act,
      shown: { before?: AuditedState; after?: AuditedState } = {},
    ): Promise<void> =>
      inTurn(database, async (session) => {
        const { before = null, after = null } = shown;
        await useApproval(db, act, before, session);
        await append(act, { result: undefined, before, after }, session);
      }),

    /** The latest entries, newest first. */
    latest: ({ target, operator, action }: AuditSelection, limit: number): Promise<AuditEntry[]> =>
      logOf(db)
        .find({
          ...(target !== undefined && { target }),
          ...(operator !== undefined && { 'actor.operator': operator }),
          ...(action !== undefined && { action }),
        })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),

    /** A page of entries after this number, the oldest first, for an export. */
    after: (sequence: number, limit: number): Promise<AuditEntry[]> =>
      logOf(db)
        .find({ _id: { $gt: sequence } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),

    /** Follows the whole chain as it was at one moment. */
    verify: (): Promise<{ end: ChainEnd; problems: ChainProblem[] }> =>
      withSnapshot(database, async (at, session) => {
        const chain = followChain();
        const entries = logOf(at).find({}, { session }).sort({ _id: 1 });
        for await (const entry of entries) chain.check(entry);
        return chain.finish((await endOf(at).findOne({ _id: 'end' }, { session })) ?? CHAIN_START);
      }),
  };
}

/** Runs the transactions of this process one after the other, because acts that append to the chain at once conflict. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(...given: Parameters<typeof transact<T>>): Promise<T> => {
    const run = () => transact(...given);
    // A failure is told to its own caller.
    const mine = last.then(run, run);
    last = mine;
    return mine;
  };
}

const RETRY_FOR_MS = 5_000;

/**
 * Runs `work` in a transaction until it is committed. Conflicts are tried again for a bounded time; then the caller gets a
 * 503, as also for a commit whose result stays unknown.
 */
async function transact<T>(
  { client }: Database,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + RETRY_FOR_MS;
  const session = client.startSession();
  try {
    for (let attempt = 0; ; attempt += 1) {
      session.startTransaction(TRANSACTION_OPTIONS);
      try {
        const result = await work(session);
        await commit(session, deadline);
        return result;
      } catch (error) {
        if (session.inTransaction()) await session.abortTransaction();
        if (!isConflict(error)) throw error;
        if (performance.now() > deadline) {
          throw new ApiError('service_unavailable', { cause: error });
        }
        await sleep(Math.random() * Math.min(2 ** attempt, 64));
      }
    }
  } finally {
    await session.endSession();
  }
}

async function commit(session: ClientSession, deadline: number): Promise<void> {
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      const isUnknown =
        error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
      if (!isUnknown) throw error;
      if (performance.now() > deadline) {
        throw new ApiError('service_unavailable', { message: OUTCOME_UNKNOWN, cause: error });
      }
      await sleep(50);
    }
  }
}

/** Only the chain's own documents collide: every other unique value in an act's transaction is new. */
const isConflict = (error: unknown): boolean =>
  isDuplicate(error) ||
  (error instanceof MongoError && error.hasErrorLabel('TransientTransactionError'));
