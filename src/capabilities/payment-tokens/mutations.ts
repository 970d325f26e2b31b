import type { Mutation } from '../../core/commit/mutation.js';
import {
  saveResponse,
  findSavedResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import { paymentTokens, type PaymentToken } from './payment-token.js';

export type CreatePaymentToken = {
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  token: PaymentToken;
  claim: Claim | null;
  answer: SavedResponse;
};

export const createPaymentToken: Mutation<CreatePaymentToken, AcceptResult> = {
  reads: ({ claim, id }, full) => ({
    keys: claim ? [claim.id] : [],
    records: full ? [paymentTokens.ref(id)] : [],
  }),
  decide(uow, item, now) {
    const { claim, token, answer, id } = item;
    const earlier = findSavedResponse(uow, claim, id, now);
    if (earlier) return earlier;
    // My own earlier commit, whose result never reached me.
    if (uow.get(paymentTokens, id)) {
      return { kind: 'answered', answer, resource: id, replayed: false };
    }
    uow.create(paymentTokens, token);
    return saveResponse(uow, item, answer, id);
  },
  leavesWallet: () => true,
};
