import { MongoServerError } from 'mongodb';
import type { Database } from '../database/client.js';
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
  applied_at: Date | null;
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
    { key: { received_at: 1 }, partialFilterExpression: { outcome: null }, name: 'unapplied' },
    { key: { reference: 1 } },
  ],
};

/** Left to the process that received it for so long; then the sweep applies it. */
const SWEEP_AFTER_MS = 5_000;
const DUPLICATE_KEY = 11_000;

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Callbacks are stored first and applied after the answer; what a crash leaves unapplied, the sweep applies. */
export function createCallbacks(
  { db }: Database,
  deps: { transfers: Transfers; starter: TransferStarter; log: Log; clock?: () => Date },
) {
  const { transfers, starter, log, clock = () => new Date() } = deps;
  const collection = db.collection<StoredCallback>('callbacks');

  async function apply(stored: StoredCallback): Promise<void> {
    const tenant = await transfers.tenantOf(stored.reference);
    const fact = toFact(stored);
    let outcome = fact ? 'unknown_reference' : 'nothing_to_apply';
    if (tenant && fact) {
      const applied = await transfers.applyFact(tenant, stored.reference, fact);
      outcome = applied.kind === 'fact' ? applied.verdict : applied.kind;
      // An ended transfer may need an operator now: its due date brings a workflow that says so.
      await starter.wake(stored.reference);
    }
    if (!tenant)
      log.warn(
        { provider: stored.provider, callback: stored._id },
        'callback for no record of ours',
      );
    await collection.updateOne({ _id: stored._id }, { $set: { applied_at: clock(), outcome } });
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
        applied_at: null,
        outcome: null,
      };
      try {
        await collection.insertOne(stored);
        return stored;
      } catch (error) {
        if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return null;
        throw error;
      }
    },

    apply,

    /** Applies what was stored and left, oldest first. Answers how many there were. */
    async sweep(limit: number): Promise<number> {
      const before = new Date(clock().getTime() - SWEEP_AFTER_MS);
      const left = await collection
        .find({ outcome: null, received_at: { $lt: before } })
        .sort({ received_at: 1 })
        .limit(limit)
        .toArray();
      for (const stored of left) {
        await apply(stored).catch((error: unknown) => {
          log.error({ err: error, callback: stored._id }, 'callback not applied, trying again');
        });
      }
      return left.length;
    },
  };
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
