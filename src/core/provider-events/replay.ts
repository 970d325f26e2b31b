import type { Database } from '../../platform/database/client.js';
import { ownedFilter, type Owned } from '../../platform/database/tenant-filters.js';
import type { Act } from '../audit/entry.js';
import type { GroupCommit } from '../commit/group-commit.js';
import {
  throwIfKeyReused,
  type AcceptResult,
  type Claim,
  type SavedResponse,
  successResponse,
} from '../commit/accept.js';
import { supervisionOf } from '../supervision/supervision.js';
import { newProviderEventReplay, type ProviderEvent, type ProviderEventReplay } from './event.js';
import { acceptProviderEventReplay, type AcceptProviderEventReplay } from './mutations.js';
import { presentReplay } from './presenter.js';
import type { ReplayStarter } from './workflow-starter.js';

/** The store of replays. */
export type ProviderEventReplayStore = ReturnType<typeof createProviderEventReplayStore>;

/** The outcome of the event this time, or why it could not be applied. */
export type ReplayEnd = { outcome: string } | { code: string; message: string };

/** Creates the store of replays. A replay is committed together with its idempotency key. */
export function createProviderEventReplayStore(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
) {
  const collection = db.collection<ProviderEventReplay>('provider_event_replays');

  return {
    ...supervisionOf(
      collection,
      'created_at',
      { stallTimeoutMs },
      { acceptedField: 'created_at', open: { status: 'pending' } },
    ),

    accept: (input: AcceptProviderEventReplay): Promise<AcceptResult> =>
      groupCommit.commit(acceptProviderEventReplay, input),

    find: (id: string) => collection.findOne({ _id: id }),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    ended: (owned: Owned[]): Promise<ProviderEventReplay[]> =>
      collection.find({ ...ownedFilter(owned), status: { $ne: 'pending' } }).toArray(),

    /** Ends a replay, once. */
    async end(id: string, end: ReplayEnd): Promise<void> {
      const [outcome, failure] = 'outcome' in end ? [end.outcome, null] : [null, end];
      const status = failure ? 'failed' : 'completed';
      await collection.updateOne(
        { _id: id, status: 'pending' },
        {
          $set: { status, result: outcome, failure, next_check_at: null, completed_at: new Date() },
        },
      );
    },
  };
}

/**
 * Accepts a replay of an event; of an event without a tenant only for operators. Their act is in the audit log by the same
 * commit.
 */
type ReplayProviderEvent = (
  event: Pick<ProviderEvent, '_id' | 'provider' | 'tenant_id'>,
  claim: Claim | null,
  act?: Act,
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/** Accepts a replay: one commit of the record, key and answer, then the start of its workflow. */
export function createReplayCreation(deps: {
  replays: ProviderEventReplayStore;
  starter: ReplayStarter;
}): ReplayProviderEvent {
  const { replays, starter } = deps;
  return async (event, claim, act) => {
    const replay = newProviderEventReplay(event, new Date());
    const { tenant_id: tenantId } = replay;
    const answer = successResponse(presentReplay(replay));
    const outcome = throwIfKeyReused(
      await replays.accept({ tenantId, replay, claim, answer, ...(act && { act }) }),
    );
    if (outcome.resource === replay._id) starter.startSoon(replay);
    return outcome;
  };
}
