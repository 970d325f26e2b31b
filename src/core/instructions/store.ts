import type { ClientSession, Collection, Filter } from 'mongodb';
import {
  BY_ID,
  acrossTenants,
  ownedFilter,
  type Owned,
} from '../../platform/database/tenant-filters.js';
import { createLane } from '../../shared/batching.js';
import { supervisionOf } from '../supervision/supervision.js';
import { STALLED, withoutStall } from '../supervision/stalls.js';
import type { ResendSafety } from '../providers/transfer-provider.js';
import {
  resendCondition,
  statusForPermit,
  submittedEntry,
  type SubmitPermitRequest,
} from './submit-permit.js';
import { type InstructionRecord, timelineEntry, type TimelineType } from './instruction.js';
import { restoredWrites } from './restored.js';
import type { SubmitInput } from './workflow-contract.js';

/** Grants the first submit permit in a commit with its event, if the tenant has a subscriber for it. */
type EventfulPermit<R> = {
  hasSubscribers(tenantId: string): Promise<boolean>;
  grantPermit(tenantId: string, id: string, request: SubmitPermitRequest): Promise<R | null>;
};

/** Settings of an instruction store. */
type InstructionStoreSettings<R> = {
  /** The collection of the records. Only fields of InstructionRecord are read and written here. */
  collection: Collection<InstructionRecord>;
  clock: () => Date;
  stallTimeoutMs: number;
  /** Records that match one of these get no submit permit. Left out if there are none. */
  withheld?: readonly Filter<R>[];
  /** Left out if a submission is no event for tenants. */
  eventfulPermit?: EventfulPermit<R>;
};

/** Store of the records of one capability. */
export type InstructionStore<R extends InstructionRecord> = ReturnType<
  typeof createInstructionStore<R>
>;

/** The attempt or the instruction that an answer is about, of a record that has several one after another. */
type AnsweredPart = { attempt?: number | undefined; instruction?: string | undefined };

/** A record that an answer is about. */
type Answered = Pick<InstructionRecord, '_id' | 'tenant_id'> & AnsweredPart;

/** An answer without an outcome. */
type RecordedAnswer = {
  kind: string;
  reason?: string;
  code?: string;
  handle?: string;
  providerRequestId: string | null;
};

/** The record, if it is still at this attempt or instruction: an answer about an earlier one says nothing about a later one. */
const atAttempt = ({ _id, tenant_id, attempt, instruction }: Answered) => ({
  _id,
  tenant_id,
  ...(attempt !== undefined && { attempt }),
  ...(instruction !== undefined && { instruction }),
});

/** Queries and writes that all instructions share. No money moves here: outcomes are committed by mutations. */
export const createInstructionStore = <R extends InstructionRecord>(
  given: Omit<InstructionStoreSettings<R>, 'clock'> & { clock?: () => Date },
) => {
  const settings = { clock: () => new Date(), ...given };
  return {
    ...permitWrites(settings),
    ...returnedPermits(settings),
    ...handleWrites(settings),
    ...verificationWrites(settings),
    ...timelineWrites(settings),
    ...attentionWrites(settings),
    ...supervisionOf(settings.collection as unknown as Collection<R>, 'updated_at', settings, {
      acceptedField: 'created_at',
      // A monitored one has failed by force, and its workflow asks about it still.
      open: {
        $or: [{ status: { $in: ['pending', 'processing'] } }, { monitor_until: { $type: 'date' } }],
      },
    }),
    ...instructionQueries(settings),
  };
};

/** The writes that grant submit permits, also those that a restored database may have lost. */
function permitWrites<R extends InstructionRecord>(settings: InstructionStoreSettings<R>) {
  const permits = submissionWrites(settings);
  return { ...permits, ...restoredWrites({ ...settings, ...permits }) };
}

/** Records in one query of `getTogether`. */
const READS_PER_QUERY = 100;

/** Queries. Those for clients take the tenant; the others are for operators and the worker. */
function instructionQueries<R extends InstructionRecord>({
  collection,
}: InstructionStoreSettings<R>) {
  const reads = createLane<Owned, R | null>({
    async run(owned) {
      const found = (await collection.find(ownedFilter(owned), BY_ID).toArray()) as R[];
      const byId = new Map(found.map((record) => [record._id, record]));
      return owned.map(({ id, tenantId }) => {
        const record = byId.get(id);
        return record?.tenant_id === tenantId ? record : null;
      });
    },
    maxBatch: READS_PER_QUERY,
    maxWaiting: Infinity,
  });
  return {
    get: async (tenantId: string, id: string) =>
      (await collection.findOne({ _id: id, tenant_id: tenantId })) as R | null,

    /** As `get`, in one query with the others that are read at this moment. */
    getTogether: (tenantId: string, id: string): Promise<R | null> =>
      reads.enqueue({ tenantId, id }),

    /** By id alone: for operators, and for provider events, which name no tenant. */
    find: async (id: string) =>
      (await collection.findOne({ _id: id }, acrossTenants('look_up'))) as R | null,

    /** The closed ones among these, without their timelines. */
    async findEnded(owned: Owned[]): Promise<R[]> {
      const found = await collection
        .find(
          { ...ownedFilter(owned), status: { $in: ['completed', 'failed'] } },
          { projection: { timeline: 0 }, ...BY_ID },
        )
        .toArray();
      return found as R[];
    },

    /** For operators, over all tenants: the latest first; with `attention`, the longest waiting first. */
    async latest({ attention, limit }: { attention: boolean; limit: number }): Promise<R[]> {
      const found = await collection
        .find(attention ? { 'attention.since': { $type: 'date' } } : {}, {
          projection: { timeline: 0 },
          ...acrossTenants('report'),
        })
        .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(limit)
        .toArray();
      return found as R[];
    },
  };
}

function submissionWrites<R extends InstructionRecord>({
  collection,
  clock,
  stallTimeoutMs,
  withheld = [],
  eventfulPermit,
}: InstructionStoreSettings<R>) {
  return {
    /**
     * Grants a submit permit to the caller that names the present number of submissions, and raises that number, so no
     * permit is granted twice. Returns null to all others, which must verify. The first permit changes the status: it is
     * committed with its event if the tenant has subscribers, and together with others if it is `batched`; otherwise one
     * update suffices. A further permit also requires that the provider's resend safety still covers the record. `handle`:
     * what the provider has prepared for this submission; null if there is nothing new. `instruction`: of a record that has
     * several one after another, whose submissions are counted anew, the one that this permit is for.
     */
    async acquireSubmitPermit(
      permit: SubmitInput & { instruction?: string },
      resendSafety: ResendSafety = { kind: 'never' },
      handle: string | null = null,
    ): Promise<R | null> {
      const { tenantId, id, submissions, instruction } = permit;
      const { suppressTimeline = false, batched = false } = permit;
      const now = clock();
      const dueAt = new Date(now.getTime() + stallTimeoutMs);
      const first = submissions === 0;
      if (first && eventfulPermit && (batched || (await eventfulPermit.hasSubscribers(tenantId)))) {
        const request = { submissions, actor: 'bursar', dueAt, handle };
        return eventfulPermit.grantPermit(tenantId, id, request);
      }
      const permitted = await collection.findOneAndUpdate(
        {
          _id: id,
          tenant_id: tenantId,
          submissions,
          ...(instruction !== undefined && { instruction }),
          status: statusForPermit(submissions),
          $nor: [{ next_attempt_at: { $gt: now } }, ...(withheld as Filter<InstructionRecord>[])],
          ...(!first && resendCondition(resendSafety, now)),
        },
        {
          $set: {
            status: 'processing',
            updated_at: now,
            next_check_at: dueAt,
            ...(first && { first_submitted_at: now }),
            ...(handle !== null && { handle }),
          },
          $inc: {
            submissions: 1,
            version: 1,
            ...(first && eventfulPermit && { event_sequence: 1 }),
          },
          ...(!suppressTimeline && {
            $push: { timeline: submittedEntry(submissions, 'bursar', now) },
          }),
        },
        { returnDocument: 'after' },
      );
      return permitted as R | null;
    },
  };
}

function returnedPermits<R extends InstructionRecord>({
  collection,
  clock,
}: InstructionStoreSettings<R>) {
  return {
    /**
     * Returns a submit permit that was surely not used: the submission counts as rejected, as one that the provider cannot
     * have. `record`: as the permit has left it. Null if the record has changed since; the permit then counts as used.
     */
    async returnPermit(record: R): Promise<R | null> {
      const { _id, tenant_id, submissions, first_submitted_at } = record;
      const timeline = timelineEntry(clock(), 'note', 'bursar', {
        detail: 'not submitted after all: the data of the call could not be read in time',
      });
      const returned = await collection.findOneAndUpdate(
        { _id, tenant_id, submissions, first_submitted_at, status: 'processing' },
        { $inc: { rejected_submissions: 1, version: 1 }, $push: { timeline } },
        { returnDocument: 'after' },
      );
      return returned as R | null;
    },
  };
}

function handleWrites<R extends InstructionRecord>({ collection }: InstructionStoreSettings<R>) {
  return {
    /** Keeps the provider's id of what was submitted, if the record has none. `record`: as it was submitted. */
    async learnHandle(record: Answered, handle: string) {
      await collection.updateOne(
        { ...atAttempt(record), handle: null },
        { $set: { handle }, $inc: { version: 1 } },
      );
    },

    /** Forgets a handle that the provider has declared void, once. */
    async forgetHandle(tenantId: string, id: string, handle: string) {
      await collection.updateOne(
        { _id: id, tenant_id: tenantId, handle },
        { $set: { handle: null }, $inc: { void_handles: 1, version: 1 } },
      );
    },
  };
}

function verificationWrites<R extends InstructionRecord>({
  collection,
  clock,
  stallTimeoutMs,
}: InstructionStoreSettings<R>) {
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + stallTimeoutMs);
  return {
    /** Moves the next check back by `ms`, because the present run pauses for so long. */
    async postpone(tenantId: string, id: string, ms: number) {
      const change = { $set: { next_check_at: dueAfter(ms) }, $inc: { version: 1 } };
      await collection.updateOne(
        { _id: id, tenant_id: tenantId, next_check_at: { $ne: null } },
        change,
      );
    },

    /**
     * Counts a poll without an outcome, and sets the next check after the next poll. `record`: as it was when its provider was
     * asked; nothing is counted at a later attempt or instruction.
     */
    async countPoll(record: Answered, nextPollMs: number, acknowledged = false) {
      const change = {
        $set: {
          next_check_at: dueAfter(nextPollMs),
          ...(acknowledged && { acknowledged_at: clock() }),
        },
        $inc: { polls: 1, version: 1 },
      };
      await collection.updateOne({ ...atAttempt(record), next_check_at: { $ne: null } }, change);
    },

    /** Stores that the provider has the instruction. `of`: only if the record is still at this attempt or instruction. */
    async acknowledge(tenantId: string, id: string, of: AnsweredPart = {}) {
      await collection.updateOne(
        { ...atAttempt({ _id: id, tenant_id: tenantId, ...of }), acknowledged_at: null },
        { $set: { acknowledged_at: clock() }, $inc: { version: 1 } },
      );
    },
  };
}

function timelineWrites<R extends InstructionRecord>({
  collection,
  clock,
}: InstructionStoreSettings<R>) {
  return {
    /**
     * Adds an answer without an outcome to the timeline. `suppressTimeline` only counts a repeated rejection. `record`: as it was
     * submitted; nothing is added to a later attempt or instruction. Its handle stays: a repeat of the submission needs it.
     */
    async recordAnswer(
      record: Answered & Pick<InstructionRecord, 'handle'>,
      actor: string,
      answer: RecordedAnswer,
      {
        wasRejected,
        suppressTimeline,
        acknowledged,
      }: { wasRejected: boolean; suppressTimeline: boolean; acknowledged: boolean },
    ) {
      const { kind, code, reason = code, providerRequestId, handle = null } = answer;
      const detail = reason === undefined ? kind : `${kind}: ${reason}`;
      const timeline = timelineEntry(clock(), 'provider_answer', actor, {
        detail,
        providerRequestId,
      });
      const learned = {
        ...(acknowledged && { acknowledged_at: clock() }),
        ...(handle !== null && (record.handle ?? null) === null && { handle }),
      };
      await collection.updateOne(atAttempt(record), {
        $inc: { version: 1, rejected_submissions: wasRejected ? 1 : 0 },
        ...(Object.keys(learned).length > 0 && { $set: learned }),
        ...(!(suppressTimeline && wasRejected) && { $push: { timeline } }),
      });
    },

    /** Adds a timeline entry and changes nothing else. */
    async note(
      tenantId: string,
      id: string,
      type: TimelineType,
      actor: string,
      extra: Parameters<typeof timelineEntry>[3],
      session?: ClientSession,
    ) {
      const timeline = timelineEntry(clock(), type, actor, extra);
      await collection.updateOne(
        { _id: id, tenant_id: tenantId },
        { $push: { timeline }, $inc: { version: 1 } },
        session ? { session } : {},
      );
    },
  };
}

function attentionWrites<R extends InstructionRecord>({
  collection,
  clock,
}: InstructionStoreSettings<R>) {
  return {
    /**
     * Raises attention on an open record. Existing attention is kept, unless it is the watchdog's. Returns false if nothing
     * was raised.
     */
    async raiseAttention(tenantId: string, id: string, reason: string): Promise<boolean> {
      const now = clock();
      const { modifiedCount } = await collection.updateOne(
        {
          _id: id,
          tenant_id: tenantId,
          $or: [{ attention: null }, { 'attention.reason': STALLED }],
          status: { $in: ['pending', 'processing'] },
        },
        {
          $set: { attention: { since: now, reason }, updated_at: now },
          $inc: { version: 1 },
          $push: { timeline: timelineEntry(now, 'attention_raised', 'bursar', { detail: reason }) },
        },
      );
      return modifiedCount > 0;
    },

    /** Ends monitoring whose time is over, and the watchdog's attention with it. A record with other attention keeps its next check. */
    async endMonitoring(tenantId: string, id: string) {
      const now = clock();
      const isUnnoticed = { $eq: [{ $ifNull: ['$attention', null] }, null] };
      await collection.updateOne({ _id: id, tenant_id: tenantId, monitor_until: { $lt: now } }, [
        { $set: { ...withoutStall(now), monitor_until: null } },
        { $set: { next_check_at: { $cond: [isUnnoticed, null, '$next_check_at'] } } },
      ]);
    },
  };
}
