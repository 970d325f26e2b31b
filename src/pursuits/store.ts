import type { Collection } from 'mongodb';
import { overdue } from '../database/overdue.js';
import { permittedIn, submitted, type PermissionRequest } from './permission.js';
import type { PursuedRecord } from './record.js';
import { timelineEntry, type TimelineType } from './timeline.js';

/** How the first permission is given to a record whose tenant is told of it: by a commit with the event. */
export type Announced<R> = {
  isHeard(tenant: string): Promise<boolean>;
  permit(tenant: string, id: string, request: PermissionRequest): Promise<R | null>;
};

export type PursuedSettings<R> = {
  /** Where records of type R are kept. Only what all pursued records have is read and written here. */
  collection: Collection<PursuedRecord>;
  clock: () => Date;
  sweepSlackMs: number;
  /** Not there: nobody is told that the order goes out, and it is no event. */
  announced?: Announced<R>;
};

export type PursuedRecords<R extends PursuedRecord> = ReturnType<typeof pursuedRecords<R>>;

/** What the pursuit of a record writes, beside its end. No money moves here. */
export const pursuedRecords = <R extends PursuedRecord>(settings: PursuedSettings<R>) => ({
  ...attempts(settings),
  ...notes(settings),
  ...care(settings),
  /** The dates of the sweep, which keep a record from being forgotten. */
  ...overdue(settings.collection as unknown as Collection<R>, 'updated_at', settings),
  ...queries(settings),
});

/** What every capability reads of its records. Clients' queries carry the tenant; the others are for operators and the worker. */
function queries<R extends PursuedRecord>({ collection }: PursuedSettings<R>) {
  return {
    get: async (tenant: string, id: string) =>
      (await collection.findOne({ _id: id, tenant })) as R | null,

    /** By our id alone: for operators, and for providers' messages, which know no tenant. */
    find: async (id: string) => (await collection.findOne({ _id: id })) as R | null,

    /** Those that have come to their end; another fact may still follow. */
    async ended(ids: string[]): Promise<R[]> {
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
function attempts<R extends PursuedRecord>({
  collection,
  clock,
  sweepSlackMs,
  announced,
}: PursuedSettings<R>) {
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + sweepSlackMs);
  return {
    /**
     * The permission to send, made once: whoever names the present number of sends raises it and may send; nobody
     * else ever gets the same permission. Null for all others, who have to ask the provider first. The first one
     * changes the state: where somebody listens it is committed with its event, otherwise one update does it.
     */
    async permitSend(
      tenant: string,
      id: string,
      sends: number,
      quietly: boolean,
    ): Promise<R | null> {
      const now = clock();
      const dueAt = dueAfter(0);
      const first = sends === 0;
      if (first && announced && (await announced.isHeard(tenant))) {
        return announced.permit(tenant, id, { sends, actor: 'bursar', dueAt });
      }
      const permitted = await collection.findOneAndUpdate(
        {
          _id: id,
          tenant,
          sends,
          status: permittedIn(sends),
          $nor: [{ next_attempt_at: { $gt: now } }],
        },
        {
          $set: { status: 'processing', updated_at: now, due_at: dueAt },
          $inc: { sends: 1, version: 1, ...(first && announced && { events: 1 }) },
          ...(!quietly && { $push: { timeline: submitted(sends, 'bursar', now) } }),
        },
        { returnDocument: 'after' },
      );
      return permitted as R | null;
    },

    /** Who has it goes on after so long: until then nobody else has to look. */
    async postpone(tenant: string, id: string, ms: number) {
      const change = { $set: { due_at: dueAfter(ms) }, $inc: { version: 1 } };
      await collection.updateOne({ _id: id, tenant, due_at: { $ne: null } }, change);
    },

    /** A poll that learned nothing only counts, and says when the next one is due. */
    async countPoll(tenant: string, id: string, nextPollMs: number) {
      const change = { $set: { due_at: dueAfter(nextPollMs) }, $inc: { polls: 1, version: 1 } };
      await collection.updateOne({ _id: id, tenant, due_at: { $ne: null } }, change);
    },
  };
}

/** What the timeline tells beside the changes of state: answers that end nothing, and notes. */
function notes<R extends PursuedRecord>({ collection, clock }: PursuedSettings<R>) {
  return {
    /** An answer that ends nothing. One that repeats the last only counts, so that a timeline stays readable. */
    async noteAnswer(
      tenant: string,
      id: string,
      actor: string,
      answer: { kind: string; reason?: string; code?: string; providerRequestId: string | null },
      { notTaken, quietly }: { notTaken: boolean; quietly: boolean },
    ) {
      const { kind, code, reason = code, providerRequestId } = answer;
      const detail = reason === undefined ? kind : `${kind}: ${reason}`;
      const timeline = timelineEntry(clock(), 'provider_answer', actor, {
        detail,
        providerRequestId,
      });
      await collection.updateOne(
        { _id: id, tenant },
        {
          $inc: { version: 1, not_taken: notTaken ? 1 : 0 },
          ...(!(quietly && notTaken) && { $push: { timeline } }),
        },
      );
    },

    /** One more line of the timeline, where nothing else changes. */
    async note(
      tenant: string,
      id: string,
      type: TimelineType,
      actor: string,
      extra: Parameters<typeof timelineEntry>[3],
    ) {
      const timeline = timelineEntry(clock(), type, actor, extra);
      await collection.updateOne(
        { _id: id, tenant },
        { $push: { timeline }, $inc: { version: 1 } },
      );
    },
  };
}

/** The call for an operator, and the watch over what was given up. */
function care<R extends PursuedRecord>({ collection, clock }: PursuedSettings<R>) {
  return {
    /** Asks for an operator, once: an attention that stands is left as it is. */
    async raiseAttention(tenant: string, id: string, reason: string) {
      const now = clock();
      await collection.updateOne(
        { _id: id, tenant, attention: null, status: { $in: ['pending', 'processing'] } },
        {
          $set: { attention: { since: now, reason }, updated_at: now },
          $inc: { version: 1 },
          $push: { timeline: timelineEntry(now, 'attention_raised', 'bursar', { detail: reason }) },
        },
      );
    },

    /** Ends a watch that has run its time; what an operator still has to see stays due. */
    async endWatch(tenant: string, id: string) {
      const over = { _id: id, tenant, watch_until: { $lt: clock() } };
      const $inc = { version: 1 };
      await collection.updateOne(
        { ...over, attention: null },
        { $set: { watch_until: null, due_at: null }, $inc },
      );
      await collection.updateOne(over, { $set: { watch_until: null }, $inc });
    },
  };
}
