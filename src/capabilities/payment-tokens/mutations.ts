import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/unit-of-work.js';
import type { PaymentToken } from './payment-token.js';

export type CreatePaymentToken = {
  kind: 'createToken';
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  token: PaymentToken;
  claim: Claim | null;
  answer: SavedResponse;
};

const createPaymentToken: Mutation<CreatePaymentToken, AcceptResult> = {
  reads: ({ claim, id }, complete) => ({
    keys: claim ? [claim.id] : [],
    records: { payment_tokens: complete ? [id] : [] },
  }),
  decide(uow, item, now) {
    const { claim, token, answer, id } = item;
    const earlier = findSavedResponse(uow, claim, id, now);
    if (earlier) return earlier;
    // My own earlier commit, whose result never reached me.
    if (uow.record('payment_tokens', id)) {
      return { kind: 'answered', answer, resource: id, replayed: false };
    }
    uow.create('payment_tokens', token);
    return saveResponse(uow, item, answer, id);
  },
  leavesWallet: () => true,
};

/** What tokens commit; see kinds.ts. */
export const tokenKinds = { createToken: createPaymentToken };
