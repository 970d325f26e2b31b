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
  decide: (uow, input, now) =>
    acceptOnce(uow, input, now, {
      collection: providerEventReplays,
      id: input.replay._id,
      response: () => input.answer,
      admit() {
        uow.create(providerEventReplays, input.replay);
        return input.replay;
      },
    }),
};
