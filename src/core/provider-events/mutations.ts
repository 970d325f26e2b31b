import { acceptOnce } from '../commit/accept.js';
import type { Mutation } from '../commit/mutation.js';
import { type AcceptResult, type SavedResponse, type Claim } from '../commit/saved-response.js';
import { providerEventReplays, type ProviderEventReplay } from './event.js';

/** A new replay with its idempotency key. */
export type AcceptProviderEventReplay = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  replay: ProviderEventReplay;
  claim: Claim | null;
  answer: SavedResponse;
};

/** Accepts a replay once. */
export const acceptProviderEventReplay: Mutation<AcceptProviderEventReplay, AcceptResult> = {
  reads: ({ replay, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    records: full ? [providerEventReplays.ref(replay._id)] : [],
  }),
  decide: (uow, item, now) =>
    acceptOnce(uow, item, now, {
      collection: providerEventReplays,
      id: item.replay._id,
      response: () => item.answer,
      admit() {
        uow.create(providerEventReplays, item.replay);
        return item.replay;
      },
    }),
};
