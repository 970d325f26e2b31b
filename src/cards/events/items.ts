import type { Kind } from '../../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
} from '../../ledger/view.js';
import type { CardEventReplay } from './event.js';

export type ReplayItem = {
  kind: 'acceptReplay';
  tenant: string;
  /** Complete, with its id, before it queues. */
  replay: CardEventReplay;
  claim: Claim | null;
  answer: Answer;
};

const acceptReplay: Kind<ReplayItem, AcceptOutcome> = {
  reads: ({ replay, claim }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: { card_event_replays: complete ? [replay._id] : [] },
  }),
  decide(view, item, now) {
    const { replay, claim, answer } = item;
    const earlier = earlierAnswer(view, claim, replay._id, now);
    if (earlier) return earlier;
    // My own earlier commit, whose result never reached me.
    if (view.record('card_event_replays', replay._id)) {
      return { kind: 'answered', answer, resource: replay._id, replayed: false };
    }
    view.create('card_event_replays', replay);
    return answerWith(view, item, answer, replay._id);
  },
};

/** What replays commit; see kinds.ts. No money: what an event changes is its subject's own item. */
export const cardEventKinds = { acceptReplay };
