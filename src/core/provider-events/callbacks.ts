import { nextCheckIndex } from '../../platform/database/indexes.js';
import type { Document } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';

/** What a callback is about: whose applier takes it. */
export type CallbackSubject = 'transfer' | 'charge' | 'refund';

/** A provider's word as a capability has it kept: about which of our references, in terms of its own. */
export type CallbackDraft = {
  subject: CallbackSubject;
  /** The provider's own key of the event. */
  dedupeKey: string;
  reference: string;
  /** Amounts are `long`; what is in `secret` is forgotten once it is dealt with. */
  state: Document & { amount_minor: bigint | null; secret?: Document | null };
  occurredAt: Date | null;
};

/** The same as it is kept. Never the raw body. */
export type StoredCallback = {
  /** `<provider>/<the provider's own key of the event>`: a repeat is the same document. */
  _id: string;
  provider: string;
  /** Not there: a transfer, from before there was anything else. */
  subject?: CallbackSubject;
  reference: string;
  state: CallbackDraft['state'];
  occurred_at: Date | null;
  received_at: Date;
  /** When it was dealt with, applied or not. */
  processed_at: Date | null;
  /** While it is not dealt with: when the sweep tries it next. */
  next_check_at: Date | null;
  /** What it came to: a verdict of the state guard, or why nothing was done. */
  result: string | null;
};

/** Applies a callback of its subject and wakes who waits for it; answers what it came to. Repeatable. */
export type Applier = (stored: StoredCallback) => Promise<string>;

export const callbacksCollection: CollectionSpec = {
  name: 'callbacks',
  validator: {
    bsonType: 'object',
    required: ['provider', 'reference', 'state', 'received_at'],
    properties: {
      state: { bsonType: 'object', properties: { amount_minor: { bsonType: ['long', 'null'] } } },
    },
  },
  indexes: [
    nextCheckIndex,
    // Repeats come within days; after that the transfer's own timeline tells what was said.
    { key: { processed_at: 1 }, expireAfterSeconds: 90 * 24 * 60 * 60 },
  ],
};

/** Left to the process that received it for so long; then the sweep applies it. */
const SWEEP_AFTER_MS = 5_000;
const RETRY_AFTER_MS = 60_000;

type CallbackDeps = {
  appliers: Partial<Record<CallbackSubject, Applier>>;
  log: Log;
  clock?: () => Date;
};

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Callbacks are stored first and applied after the answer; what a crash leaves unapplied, the sweep applies. */
export function createCallbacks({ db }: Database, deps: CallbackDeps) {
  const { appliers, log, clock = () => new Date() } = deps;
  const collection = db.collection<StoredCallback>('callbacks');

  async function apply(stored: StoredCallback): Promise<void> {
    failpoint('provider_event.stored');
    const outcome = (await appliers[stored.subject ?? 'transfer']?.(stored)) ?? 'nothing_to_apply';
    failpoint('provider_event.applied');
    const $set = { processed_at: clock(), next_check_at: null, result: outcome };
    await collection.updateOne({ _id: stored._id }, { $set, $unset: { 'state.secret': 1 } });
  }

  return {
    /** Stores a callback once. Null for one that was stored before. */
    async store(provider: string, draft: CallbackDraft): Promise<StoredCallback | null> {
      const { subject, reference, state, occurredAt, dedupeKey } = draft;
      const stored: StoredCallback = {
        _id: `${provider}/${dedupeKey}`,
        provider,
        subject,
        reference,
        state,
        occurred_at: occurredAt,
        received_at: clock(),
        processed_at: null,
        next_check_at: new Date(clock().getTime() + SWEEP_AFTER_MS),
        result: null,
      };
      try {
        await collection.insertOne(stored);
        return stored;
      } catch (error) {
        if (isDuplicate(error)) return null;
        throw error;
      }
    },

    apply,

    /** Applies what was stored and left. One that fails waits longer than the others. Answers how many it applied. */
    async sweep(limit: number): Promise<number> {
      const left = await collection
        .find({ next_check_at: { $lt: clock(), $type: 'date' } })
        .sort({ next_check_at: 1 })
        .limit(limit)
        .toArray();
      let applied = 0;
      for (const stored of left) {
        try {
          await apply(stored);
          applied += 1;
        } catch (error) {
          log.error({ err: error, callback: stored._id }, 'callback not applied, trying again');
          const $set = { next_check_at: new Date(clock().getTime() + RETRY_AFTER_MS) };
          await collection.updateOne({ _id: stored._id, result: null }, { $set });
        }
      }
      return applied;
    },
  };
}
