import { ApiError } from '../../shared/errors.js';
import { acceptOnce } from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import {
  findSavedResponse,
  refusalResponse,
  saveResponse,
  successResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/saved-response.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { deletedToken, paymentTokens, type PaymentToken } from './payment-token.js';
import { presentToken } from './presenter.js';

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

/** The deletion of a payment token by its tenant. */
type DeletePaymentToken = { tenantId: string; id: string; claim: Claim | null };

/** Deletes a payment token. A token that is revoked already stays as it is. */
export const deletePaymentToken: Mutation<DeletePaymentToken, AcceptResult> = {
  reads: ({ claim, id }) => ({
    keys: claim ? [claim.id] : [],
    records: [paymentTokens.ref(id)],
  }),
  decide(uow, input, now) {
    const earlier = findSavedResponse(uow, input.claim, null, now);
    if (earlier) return earlier;
    const token = uow.get(paymentTokens, input.id);
    if (token?.tenant_id !== input.tenantId) {
      return saveResponse(uow, input, refusalResponse(new ApiError('not_found')));
    }
    const next = token.status === 'revoked' ? token : deletedToken(token, now);
    if (next !== token) uow.change(paymentTokens, next);
    return saveResponse(uow, input, successResponse(presentToken(next), 200));
  },
  leavesWallet: () => true,
};
