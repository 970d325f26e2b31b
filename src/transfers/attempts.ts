import type { Collection, Filter } from 'mongodb';
import { permittedIn, submitted, type PermissionRequest } from './permission.js';
import { timelineEntry, type TimelineType, type Transfer } from './transfer.js';

/** How the first permission is given to a transfer whose tenant is told of it: by a commit with the event. */
export type Announced = {
  isHeard(tenant: string): Promise<boolean>;
  permit(tenant: string, id: string, request: PermissionRequest): Promise<Transfer | null>;
};

/** What an attempt writes: the permission to send, and what was learned that ends nothing. No money moves here. */
export function transferAttempts(
  collection: Collection<Transfer>,
  clock: () => Date,
  sweepSlackMs: number,
  announced: Announced,
) {
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
    ): Promise<Transfer | null> {
      const now = clock();
      const dueAt = dueAfter(0);
      const first = sends === 0;
      if (first && (await announced.isHeard(tenant))) {
        return announced.permit(tenant, id, { sends, actor: 'bursar', dueAt });
      }
      return collection.findOneAndUpdate(
        { _id: id, tenant, sends, status: permittedIn(sends) },
        {
          $set: { status: 'processing', updated_at: now, due_at: dueAt },
          $inc: { sends: 1, version: 1, ...(first && { events: 1 }) },
          ...(!quietly && { $push: { timeline: submitted(sends, 'bursar', now) } }),
        },
        { returnDocument: 'after' },
      );
    },

    /** Fills in what the name enquiry found after acceptance. */
    async nameRecipient(tenant: string, id: string, found: { name: string; bank: string }) {
      const now = clock();
      const filter = { _id: id, tenant, 'recipient.name': null } as Filter<Transfer>;
      await collection.updateOne(filter, {
        $set: { 'recipient.name': found.name, 'recipient.bank': found.bank, updated_at: now },
        $inc: { version: 1 },
      });
    },

    /** A poll that learned nothing only counts, and says when the next one is due. */
    async countPoll(tenant: string, id: string, nextPollMs: number) {
      const change = { $set: { due_at: dueAfter(nextPollMs) }, $inc: { polls: 1, version: 1 } };
      await collection.updateOne({ _id: id, tenant, due_at: { $ne: null } }, change);
    },
  };
}

/** What the timeline tells beside the changes of state: answers that end nothing, and notes. */
export function transferNotes(collection: Collection<Transfer>, clock: () => Date) {
  return {
    /** An answer that ends nothing. One that repeats the last only counts, so that a timeline stays readable. */
    async noteAnswer(
      tenant: string,
      id: string,
      actor: string,
      answer: { kind: string; reason?: string; providerRequestId: string | null },
      { notTaken, quietly }: { notTaken: boolean; quietly: boolean },
    ) {
      const { kind, reason, providerRequestId } = answer;
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

/** What keeps a record from being forgotten: the call for an operator, the watch, and the dates of the sweep. */
export function transferCare(
  collection: Collection<Transfer>,
  clock: () => Date,
  sweepSlackMs: number,
) {
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

    /** What came in a batch and is open is due now, for a workflow of its own. */
    async handOver(tenant: string, ids: string[]) {
      const now = clock();
      await collection.updateMany(
        { _id: { $in: ids }, tenant, due_at: { $gt: now } },
        { $set: { due_at: now }, $inc: { version: 1 } },
      );
    },

    /** A workflow has been started for these: look again only if it says nothing. */
    async postponeDue(ids: string[]) {
      await collection.updateMany(
        { _id: { $in: ids }, due_at: { $lt: clock() } },
        { $set: { due_at: new Date(clock().getTime() + sweepSlackMs) }, $inc: { version: 1 } },
      );
    },
  };
}
