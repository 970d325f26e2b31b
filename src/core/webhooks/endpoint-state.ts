import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import { createClaims, type Claimed } from '../../platform/database/claims.js';
import type { EndpointDocument } from './endpoints.js';

type Claimable = { _id: string; next_check_at: Date | null };

/** The failure of an endpoint as the last round found it. */
export type Failing = NonNullable<EndpointDocument['failing']>;
/** The store of the state of endpoints. */
export type EndpointState = ReturnType<typeof createEndpointState>;

/**
 * The state of endpoints for which deliveries wait: whether they have a workflow, since when they fail, and whether they
 * are parked. An endpoint has a `next_check_at` from before its workflow starts until nothing waits for it.
 */
export function createEndpointState({ db }: { db: Db }) {
  const collection = db.collection<EndpointDocument>('webhook_endpoints');
  const claims = createClaims(collection as unknown as Collection<Claimable>);
  const set = async (id: string, change: Partial<EndpointDocument>) =>
    void (await collection.updateOne({ _id: id }, { $set: change }));
  /** Recovery starts the workflow, which makes the first round. False if there is no such endpoint. */
  async function setStatus(
    id: string,
    status: 'enabled' | 'disabled',
    session?: ClientSession,
  ): Promise<boolean> {
    const now = new Date();
    const fresh = { failing: null, parked_at: null, next_check_at: now, updated_at: now };
    const change = { $set: { status, ...fresh } };
    const options = session ? { session } : {};
    return (await collection.updateOne({ _id: id }, change, options)).matchedCount === 1;
  }

  return {
    get: (id: string) => collection.findOne({ _id: id }),

    /** Lets an enabled endpoint have a workflow. Answers the endpoint as it was before; null if it is not enabled. */
    open: (id: string, nextCheckAt: Date): Promise<EndpointDocument | null> =>
      collection.findOneAndUpdate(
        { _id: id, status: 'enabled' },
        [{ $set: { next_check_at: { $ifNull: ['$next_check_at', nextCheckAt] } } }],
        { returnDocument: 'before' },
      ),

    /**
     * Ensures that recovery starts the workflows of these endpoints unless they have one. Answers those whose deliveries
     * may wait: the others are disabled or removed.
     */
    async ensureWorkflows(ids: readonly string[]): Promise<Set<string>> {
      const without = { _id: { $in: [...ids] }, status: 'enabled' as const, next_check_at: null };
      await collection.updateMany(without, { $set: { next_check_at: new Date() } });
      const listening = { _id: { $in: [...ids] }, status: { $ne: 'disabled' as const } };
      return new Set(await collection.distinct('_id', listening));
    },

    /** Claims endpoints whose workflow is missing or late, until `until`. */
    claimDue: (limit: number, until: Date): Promise<Claimed<Claimable>> =>
      claims.claimDue({ now: new Date(), until, limit, projection: { _id: 1 } }),

    checkAt: (id: string, at: Date) => set(id, { next_check_at: at }),
    /** The workflow ends. What comes to wait after this opens the endpoint again. */
    close: (id: string) => set(id, { next_check_at: null }),

    ...failuresOf(collection),

    /** Switched off, an endpoint gets nothing of what happens meanwhile. Its workflow ends and cancels what waits. */
    disable: (id: string, session?: ClientSession) => setStatus(id, 'disabled', session),

    /** Enables an endpoint that is parked or disabled. */
    enable: (id: string) => setStatus(id, 'enabled'),
  };
}

/** The failures of endpoints: all that is known about their answers. */
function failuresOf(collection: Collection<EndpointDocument>) {
  return {
    /** A round has ended without success. */
    attempted: (id: string, at: Date) =>
      collection.updateOne({ _id: id }, { $set: { attempted_at: at } }),

    /** An attempt has succeeded. Answers the failure that this ends, or null. */
    async answered(id: string): Promise<Failing | null> {
      const change = { $set: { failing: null, answered_at: new Date() } };
      const before = await collection.findOneAndUpdate({ _id: id, status: 'enabled' }, change, {
        returnDocument: 'before',
        projection: { failing: 1 },
      });
      return before?.failing ?? null;
    },

    /** A round had no success. False if an attempt of another process has succeeded since `of` was read. */
    async failed(of: EndpointDocument, failing: Failing): Promise<boolean> {
      const filter = {
        _id: of._id,
        status: 'enabled' as const,
        answered_at: of.answered_at ?? null,
      } as Filter<EndpointDocument>;
      return (await collection.updateOne(filter, { $set: { failing } })).matchedCount === 1;
    },

    /** Stops all attempts. False if an attempt of another process has succeeded since `of` was read. */
    async park(of: EndpointDocument, failing: Failing): Promise<boolean> {
      const now = new Date();
      const change = {
        status: 'parked' as const,
        failing,
        next_check_at: null,
        parked_at: now,
        updated_at: now,
      };
      const filter = {
        _id: of._id,
        status: 'enabled' as const,
        answered_at: of.answered_at ?? null,
      } as Filter<EndpointDocument>;
      return (await collection.updateOne(filter, { $set: change })).matchedCount === 1;
    },
  };
}
