import type { Kind } from '../../ledger/kind.js';
import {
  answerWith,
  earlierAnswer,
  type AcceptOutcome,
  type Answer,
  type Claim,
} from '../../ledger/view.js';
import type { PaymentToken } from './token.js';

export type CreateTokenItem = {
  kind: 'createToken';
  tenant: string;
  id: string;
  /** Complete, with its id, before it queues. */
  token: PaymentToken;
  claim: Claim | null;
  answer: Answer;
};

const createToken: Kind<CreateTokenItem, AcceptOutcome> = {
  reads: ({ claim, id }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: { payment_tokens: complete ? [id] : [] },
  }),
  decide(view, item, now) {
    const { claim, token, answer, id } = item;
    const earlier = earlierAnswer(view, claim, id, now);
    if (earlier) return earlier;
    // My own earlier commit, whose result never reached me.
    if (view.record('payment_tokens', id)) {
      return { kind: 'answered', answer, resource: id, replayed: false };
    }
    view.create('payment_tokens', token);
    return answerWith(view, item, answer, id);
  },
  leavesWallet: () => true,
};

/** What tokens commit; see kinds.ts. */
export const tokenKinds = { createToken };
