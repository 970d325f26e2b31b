import { acceptOnce } from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { paymentTokens, type PaymentToken } from './payment-token.js';

/** A new payment token with its idempotency key. */
export type CreatePaymentToken = {
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  token: PaymentToken;
  /** False for a request with a public key. */
  mayChangeCustomer: boolean;
  claim: Claim | null;
  answer: SavedResponse;
};

/** Creates a payment token once. */
export const createPaymentToken: Mutation<CreatePaymentToken, AcceptResult> = {
  reads: ({ tenantId, claim, id, token }, full) => ({
    keys: claim ? [claim.id] : [],
    records: [customerRef(tenantId, token.customer.id), ...(full ? [paymentTokens.ref(id)] : [])],
  }),
  decide: (uow, input, now) =>
    acceptOnce(uow, input, now, {
      collection: paymentTokens,
      id: input.id,
      response: () => input.answer,
      admit() {
        const named = { ...input.token.customer, mayChange: input.mayChangeCustomer };
        nameCustomer(uow, input.tenantId, named, now);
        uow.create(paymentTokens, input.token);
        return input.token;
      },
    }),
  leavesWallet: () => true,
};
