import type { Collection, Filter } from 'mongodb';
import { timelineEntry, type TimelineType, type Transfer } from './transfer.js';

/** What an attempt writes: the permission to send, and what was learned that ends nothing. No money moves here. */
export function transferAttempts(
  collection: Collection<Transfer>,
  clock: () => Date,
  sweepSlackMs: number,
) {
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + sweepSlackMs);
  return {
    /**
     * The permission to send, made once: whoever names the present number of sends raises it and may send; nobody
     * else ever gets the same permission. Null for all others, who have to ask the provider first.
     */
    permitSend(tenant: string, id: string, sends: number, actor: string): Promise<Transfer | null> {
      const now = clock();
      const detail = sends === 0 ? null : `sent again, attempt ${sends + 1}`;
      return collection.findOneAndUpdate(
        { _id: id, tenant, sends, status: sends === 0 ? 'pending' : 'processing' },
        {
          $set: { status: 'processing', updated_at: now, due_at: dueAfter(0) },
          $inc: { sends: 1, version: 1 },
          $push: { timeline: timelineEntry(now, 'submitted', actor, { detail }) },
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

    /** Ends a watch that has run its time. */
    async endWatch(tenant: string, id: string) {
      const change = { $set: { watch_until: null, due_at: null }, $inc: { version: 1 } };
      await collection.updateOne({ _id: id, tenant, watch_until: { $lt: clock() } }, change);
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
