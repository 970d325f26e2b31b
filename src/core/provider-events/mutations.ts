import {
  acceptOnce,
  keysOf,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../commit/accept.js';
import type { Act } from '../audit/entry.js';
import type { Mutation } from '../commit/mutation.js';
import { providerEventReplays, type ProviderEventReplay } from './event.js';

/** A new replay with its idempotency key. */
export type AcceptProviderEventReplay = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  replay: ProviderEventReplay;
  claim: Claim | null;
  answer: SavedResponse;
  /** An operator asks for it. */
  act?: Act;
};

/** Accepts a replay once. */
export const acceptProviderEventReplay: Mutation<AcceptProviderEventReplay, AcceptResult> = {
  reads: ({ replay, claim }, full) => ({
    keys: keysOf(claim),
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
  audited: (uow, { replay: { _id } }) =>
    uow.get(providerEventReplays, _id) ? { replay: _id } : null,
};
