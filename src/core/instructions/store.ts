import type { Collection } from 'mongodb';
import { supervisionOf } from '../supervision/supervision.js';
import { statusForPermit, submittedEntry, type SubmitPermitRequest } from './submit-permit.js';
import type { InstructionRecord } from './instruction.js';
import { timelineEntry, type TimelineType } from './timeline.js';

/** How the first permission is given to a record whose tenant is told of it: by a commit with the event. */
export type EventfulPermit<R> = {
  hasSubscribers(tenantId: string): Promise<boolean>;
  grantPermit(tenantId: string, id: string, request: SubmitPermitRequest): Promise<R | null>;
};

export type InstructionStoreSettings<R> = {
  /** Where records of type R are kept. Only what all pursued records have is read and written here. */
  collection: Collection<InstructionRecord>;
  clock: () => Date;
  stallTimeoutMs: number;
  /** Not there: nobody is told that the order goes out, and it is no event. */
  eventfulPermit?: EventfulPermit<R>;
};

export type InstructionStore<R extends InstructionRecord> = ReturnType<
  typeof createInstructionStore<R>
>;

/** What the pursuit of a record writes, beside its end. No money moves here. */
export const createInstructionStore = <R extends InstructionRecord>(
  settings: InstructionStoreSettings<R>,
) => ({
  ...submissionWrites(settings),
  ...timelineWrites(settings),
  ...attentionWrites(settings),
  /** The dates of the sweep, which keep a record from being forgotten. */
  ...supervisionOf(settings.collection as unknown as Collection<R>, 'updated_at', settings),
  ...instructionQueries(settings),
});

/** What every capability reads of its records. Clients' queries carry the tenant; the others are for operators and the worker. */
function instructionQueries<R extends InstructionRecord>({
  collection,
}: InstructionStoreSettings<R>) {
  return {
    get: async (tenantId: string, id: string) =>
      (await collection.findOne({ _id: id, tenant_id: tenantId })) as R | null,

    /** By our id alone: for operators, and for providers' messages, which know no tenant. */
    find: async (id: string) => (await collection.findOne({ _id: id })) as R | null,

    /** Those that have come to their end; another fact may still follow. */
    async findEnded(ids: string[]): Promise<R[]> {
      const found = await collection
        .find(
          { _id: { $in: ids }, status: { $in: ['completed', 'failed'] } },
          { projection: { timeline: 0 } },
        )
        .toArray();
      return found as R[];
    },

    /** For operators, over all tenants: the latest first, or those first that have waited longest. */
    async latest({ attention, limit }: { attention: boolean; limit: number }): Promise<R[]> {
      const found = await collection
        .find(attention ? { 'attention.since': { $type: 'date' } } : {}, {
          projection: { timeline: 0 },
        })
        .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
        .limit(limit)
        .toArray();
      return found as R[];
    },
  };
}

/** What an attempt writes: the permission to send, and what was learned that ends nothing. */
function submissionWrites<R extends InstructionRecord>({
  collection,
  clock,
  stallTimeoutMs,
  eventfulPermit,
}: InstructionStoreSettings<R>) {
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + stallTimeoutMs);
  return {
    /**
     * The permission to send, made once: whoever names the present number of sends raises it and may send; nobody
     * else ever gets the same permission. Null for all others, who have to ask the provider first. The first one
     * changes the state: where somebody listens it is committed with its event, otherwise one update does it.
     */
    async acquireSubmitPermit(
      tenantId: string,
      id: string,
      submissions: number,
      suppressTimeline: boolean,
    ): Promise<R | null> {
      const now = clock();
      const dueAt = dueAfter(0);
      const first = submissions === 0;
      if (first && eventfulPermit && (await eventfulPermit.hasSubscribers(tenantId))) {
        return eventfulPermit.grantPermit(tenantId, id, { submissions, actor: 'bursar', dueAt });
      }
      const permitted = await collection.findOneAndUpdate(
        {
          _id: id,
          tenant_id: tenantId,
          submissions,
          status: statusForPermit(submissions),
          $nor: [{ next_attempt_at: { $gt: now } }],
        },
        {
          $set: { status: 'processing', updated_at: now, next_check_at: dueAt },
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

    /** Who has it goes on after so long: until then nobody else has to look. */
    async postpone(tenantId: string, id: string, ms: number) {
      const change = { $set: { next_check_at: dueAfter(ms) }, $inc: { version: 1 } };
      await collection.updateOne(
        { _id: id, tenant_id: tenantId, next_check_at: { $ne: null } },
        change,
      );
    },

    /** A poll that learned nothing only counts, and says when the next one is due. */
    async countPoll(tenantId: string, id: string, nextPollMs: number) {
      const change = {
        $set: { next_check_at: dueAfter(nextPollMs) },
        $inc: { polls: 1, version: 1 },
      };
      await collection.updateOne(
        { _id: id, tenant_id: tenantId, next_check_at: { $ne: null } },
        change,
      );
    },
  };
}

/** What the timeline tells beside the changes of state: answers that end nothing, and notes. */
function timelineWrites<R extends InstructionRecord>({
  collection,
  clock,
}: InstructionStoreSettings<R>) {
  return {
    /** An answer that ends nothing. One that repeats the last only counts, so that a timeline stays readable. */
    async recordAnswer(
      tenantId: string,
      id: string,
      actor: string,
      answer: { kind: string; reason?: string; code?: string; providerRequestId: string | null },
      { wasRejected, suppressTimeline }: { wasRejected: boolean; suppressTimeline: boolean },
    ) {
      const { kind, code, reason = code, providerRequestId } = answer;
      const detail = reason === undefined ? kind : `${kind}: ${reason}`;
      const timeline = timelineEntry(clock(), 'provider_answer', actor, {
        detail,
        providerRequestId,
      });
      await collection.updateOne(
        { _id: id, tenant_id: tenantId },
        {
          $inc: { version: 1, rejected_submissions: wasRejected ? 1 : 0 },
          ...(!(suppressTimeline && wasRejected) && { $push: { timeline } }),
        },
      );
    },

    /** One more line of the timeline, where nothing else changes. */
    async note(
      tenantId: string,
      id: string,
      type: TimelineType,
      actor: string,
      extra: Parameters<typeof timelineEntry>[3],
    ) {
      const timeline = timelineEntry(clock(), type, actor, extra);
      await collection.updateOne(
        { _id: id, tenant_id: tenantId },
        { $push: { timeline }, $inc: { version: 1 } },
      );
    },
  };
}

/** The call for an operator, and the watch over what was given up. */
function attentionWrites<R extends InstructionRecord>({
  collection,
  clock,
}: InstructionStoreSettings<R>) {
  return {
    /** Asks for an operator, once: an attention that stands is left as it is. */
    async raiseAttention(tenantId: string, id: string, reason: string) {
      const now = clock();
      await collection.updateOne(
        {
          _id: id,
          tenant_id: tenantId,
          attention: null,
          status: { $in: ['pending', 'processing'] },
        },
        {
          $set: { attention: { since: now, reason }, updated_at: now },
          $inc: { version: 1 },
          $push: { timeline: timelineEntry(now, 'attention_raised', 'bursar', { detail: reason }) },
        },
      );
    },

    /** Ends a watch that has run its time; what an operator still has to see stays due. */
    async endMonitoring(tenantId: string, id: string) {
      const over = { _id: id, tenant_id: tenantId, monitor_until: { $lt: clock() } };
      const $inc = { version: 1 };
      await collection.updateOne(
        { ...over, attention: null },
        { $set: { monitor_until: null, next_check_at: null }, $inc },
      );
      await collection.updateOne(over, { $set: { monitor_until: null }, $inc });
    },
  };
}
