import type { Mutation } from '../commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../commit/saved-response.js';
import { providerEventReplays, type ProviderEventReplay } from './event.js';

export type AcceptProviderEventReplay = {
  tenantId: string;
  /** Complete, with its id, before it queues. */
  replay: ProviderEventReplay;
  claim: Claim | null;
  answer: SavedResponse;
};

export const acceptProviderEventReplay: Mutation<AcceptProviderEventReplay, AcceptResult> = {
  reads: ({ replay, claim }, full) => ({
    keys: claim ? [claim.id] : [],
    records: full ? [providerEventReplays.ref(replay._id)] : [],
  }),
  decide(uow, item, now) {
    const { replay, claim, answer } = item;
    const earlier = findSavedResponse(uow, claim, replay._id, now);
    if (earlier) return earlier;
    // My own earlier commit, whose result never reached me.
    if (uow.get(providerEventReplays, replay._id)) {
      return { kind: 'answered', answer, resource: replay._id, replayed: false };
    }
    uow.create(providerEventReplays, replay);
    return saveResponse(uow, item, answer, replay._id);
  },
};
