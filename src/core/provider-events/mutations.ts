import type { Mutation } from '../commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../commit/unit-of-work.js';
import type { CardEventReplay } from './event.js';

export type AcceptProviderEventReplay = {
  kind: 'acceptReplay';
  tenantId: string;
  /** Complete, with its id, before it queues. */
  replay: CardEventReplay;
  claim: Claim | null;
  answer: SavedResponse;
};

const acceptProviderEventReplay: Mutation<AcceptProviderEventReplay, AcceptResult> = {
  reads: ({ replay, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: { provider_event_replays: complete ? [replay._id] : [] },
  }),
  decide(uow, item, now) {
    const { replay, claim, answer } = item;
    const earlier = findSavedResponse(uow, claim, replay._id, now);
    if (earlier) return earlier;
    // My own earlier commit, whose result never reached me.
    if (uow.record('provider_event_replays', replay._id)) {
      return { kind: 'answered', answer, resource: replay._id, replayed: false };
    }
    uow.create('provider_event_replays', replay);
    return saveResponse(uow, item, answer, replay._id);
  },
};

/** What replays commit; see kinds.ts. No money: what an event changes is its subject's own item. */
export const cardEventKinds = { acceptReplay: acceptProviderEventReplay };
