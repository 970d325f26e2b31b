import { acceptOnce } from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import { paymentTokens, type PaymentToken } from './payment-token.js';

/** A new payment token with its idempotency key. */
export type CreatePaymentToken = {
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  token: PaymentToken;
  claim: Claim | null;
  answer: SavedResponse;
};

/** Creates a payment token once. */
export const createPaymentToken: Mutation<CreatePaymentToken, AcceptResult> = {
  reads: ({ claim, id }, full) => ({
    keys: claim ? [claim.id] : [],
    records: full ? [paymentTokens.ref(id)] : [],
  }),
  decide: (uow, input, now) =>
    acceptOnce(uow, input, now, {
      collection: paymentTokens,
      id: input.id,
      response: () => input.answer,
      admit() {
        uow.create(paymentTokens, input.token);
        return input.token;
      },
    }),
  leavesWallet: () => true,
};
