import type { Database } from '../database/client.js';
import { isDuplicate } from '../database/duplicate.js';
import type { CollectionSpec } from '../database/migrations.js';
import type { Log } from '../log.js';
import type { Callback, PaymentState } from '../providers/provider.js';
import type { TransferFact } from '../transfers/facts.js';
import type { TransferStarter } from '../transfers/starter.js';
import type { Transfers } from '../transfers/store.js';

/** A provider's word as it is kept: what it says about which of our references. Never the raw body. */
type StoredCallback = {
  /** `<provider>/<the provider's own key of the event>`: a repeat is the same document. */
  _id: string;
  provider: string;
  reference: string;
  state: {
    kind: PaymentState['kind'];
    amount_minor: bigint | null;
    session_id: string | null;
    code: string | null;
  };
  occurred_at: Date | null;
  received_at: Date;
  /** When it was dealt with, applied or not. */
  handled_at: Date | null;
  /** While it is not dealt with: when the sweep tries it next. */
  next_try_at: Date | null;
  /** What it came to: a verdict of the state guard, or why nothing was done. */
  outcome: string | null;
};

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
    { key: { next_try_at: 1 }, partialFilterExpression: { next_try_at: { $type: 'date' } } },
    // Repeats come within days; after that the transfer's own timeline tells what was said.
    { key: { handled_at: 1 }, expireAfterSeconds: 90 * 24 * 60 * 60 },
  ],
};

/** Left to the process that received it for so long; then the sweep applies it. */
const SWEEP_AFTER_MS = 5_000;
const RETRY_AFTER_MS = 60_000;

type CallbackDeps = {
  transfers: Transfers;
  starter: TransferStarter;
  log: Log;
  clock?: () => Date;
};

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Callbacks are stored first and applied after the answer; what a crash leaves unapplied, the sweep applies. */
export function createCallbacks({ db }: Database, deps: CallbackDeps) {
  const { starter, log, clock = () => new Date() } = deps;
  const collection = db.collection<StoredCallback>('callbacks');

  async function apply(stored: StoredCallback): Promise<void> {
    const outcome = await applyFactOf(deps, stored);
    const $set = { handled_at: clock(), next_try_at: null, outcome };
    await collection.updateOne({ _id: stored._id }, { $set });
    // An ended transfer that needs an operator now is brought back by its due date.
    starter.wakeSoon({ _id: stored.reference });
  }

  return {
    /** Stores a callback once. Null for one that was stored before. */
    async store(provider: string, callback: Callback): Promise<StoredCallback | null> {
      const { state } = callback;
      const stored: StoredCallback = {
        _id: `${provider}/${callback.dedupeKey}`,
        provider,
        reference: callback.reference,
        state: {
          kind: state.kind,
          amount_minor: 'amountMinor' in state ? state.amountMinor : null,
          session_id: 'sessionId' in state ? state.sessionId : null,
          code: 'code' in state ? state.code : null,
        },
        occurred_at: callback.occurredAt,
        received_at: clock(),
        handled_at: null,
        next_try_at: new Date(clock().getTime() + SWEEP_AFTER_MS),
        outcome: null,
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
        .find({ next_try_at: { $lt: clock(), $type: 'date' } })
        .sort({ next_try_at: 1 })
        .limit(limit)
        .toArray();
      let applied = 0;
      for (const stored of left) {
        try {
          await apply(stored);
          applied += 1;
        } catch (error) {
          log.error({ err: error, callback: stored._id }, 'callback not applied, trying again');
          const $set = { next_try_at: new Date(clock().getTime() + RETRY_AFTER_MS) };
          await collection.updateOne({ _id: stored._id, outcome: null }, { $set });
        }
      }
      return applied;
    },
  };
}

async function applyFactOf(
  { transfers, log }: CallbackDeps,
  stored: StoredCallback,
): Promise<string> {
  const fact = toFact(stored);
  if (!fact) return 'nothing_to_apply';
  const owner = await transfers.ownerOf(stored.reference);
  // A provider speaks about its own payments only.
  if (owner?.provider !== stored.provider) {
    log.warn({ provider: stored.provider, callback: stored._id }, 'callback for no record of its');
    return 'unknown_reference';
  }
  const applied = await transfers.applyFact(owner.tenant, stored.reference, fact);
  return applied.kind === 'fact' ? applied.verdict : applied.kind;
}

function toFact({ _id, provider, state }: StoredCallback): TransferFact | null {
  const origin = { via: 'webhook', actor: provider, providerRequestId: _id, note: null } as const;
  switch (state.kind) {
    case 'paid':
    case 'reversed':
      return {
        ...origin,
        kind: state.kind,
        amountMinor: state.amount_minor,
        sessionId: state.session_id,
      };
    case 'refused':
      return { ...origin, kind: 'refused', code: state.code ?? 'provider_declined' };
    case 'pending':
      return null;
  }
}
