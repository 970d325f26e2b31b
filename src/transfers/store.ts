import type { Filter } from 'mongodb';
import type { Database } from '../database/client.js';
import type { CollectionSpec } from '../database/migrations.js';
import type { AcceptItem, AcceptOutcome, FactOutcome, RefusalItem } from '../ledger/decide.js';
import type { GroupCommit } from '../ledger/group-commit.js';
import type { TransferFact } from './facts.js';
import { transferQueries } from './queries.js';
import { timelineEntry, type TimelineType, type Transfer } from './transfer.js';

const long = { bsonType: 'long' };

export const transfersCollection: CollectionSpec = {
  name: 'transfers',
  validator: {
    bsonType: 'object',
    required: ['tenant', 'version', 'status', 'amount_minor', 'fee_minor', 'total_minor', 'sends'],
    properties: {
      tenant: { bsonType: 'string' },
      reference: { bsonType: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      sends: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant: 1, reference: 1 }, unique: true },
    { key: { tenant: 1, created_at: -1, _id: -1 } },
    { key: { due_at: 1 }, partialFilterExpression: { due_at: { $type: 'date' } } },
  ],
};

export type Transfers = ReturnType<typeof createTransfers>;

/**
 * The store of transfers. Money, states and events change only through `accept` and `applyFact`; the other methods
 * write what an attempt has learned and when somebody has to look again.
 */
export function createTransfers(
  { db }: Database,
  groupCommit: GroupCommit,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<Transfer>('transfers');
  const dueAfter = (ms: number) => new Date(clock().getTime() + ms + sweepSlackMs);

  return {
    ...transferQueries(collection, clock),

    accept: (item: AcceptItem | RefusalItem): Promise<AcceptOutcome> => groupCommit.commit(item),

    /** Applies what became known, through the state guard; the answer is the transfer as it stands then. */
    applyFact: (tenant: string, id: string, fact: TransferFact): Promise<FactOutcome> =>
      groupCommit.commit({ kind: 'fact', tenant, id, fact }),

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

    /** A workflow has been started for these: look again only if it says nothing. */
    async postponeDue(ids: string[]) {
      await collection.updateMany(
        { _id: { $in: ids }, due_at: { $lt: clock() } },
        { $set: { due_at: dueAfter(0) }, $inc: { version: 1 } },
      );
    },
  };
}
