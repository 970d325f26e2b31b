import { ApiError } from '../../shared/errors.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import {
  acceptOnce,
  keysOf,
  findSavedResponse,
  refusalResponse,
  saveResponse,
  successResponse,
  type AcceptResult,
  type SavedResponse,
  type Claim,
} from '../../core/commit/accept.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { Mutation } from '../../core/commit/mutation.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { deletedToken, paymentTokens, type PaymentToken } from './record.js';
import { presentToken } from './presenter.js';
import { openSetup, requestSetup, transitionSetup, type SetupFact } from './setup.js';
import { withSetupEvent } from './webhook-events.js';

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
    keys: keysOf(claim),
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

/** Changes a token, and emits the event of its set-up. Returns the token with the event counted. */
export function changeToken(
  uow: UnitOfWork,
  before: PaymentToken,
  after: PaymentToken,
): PaymentToken {
  const { next, event } = withSetupEvent(before, after);
  uow.change(paymentTokens, next);
  uow.emit(event);
  return next;
}

/** The deletion of a payment token by its tenant. */
type DeletePaymentToken = { tenantId: string; id: string; claim: Claim | null };

/** Deletes a payment token. A token that is revoked already stays as it is. */
export const deletePaymentToken: Mutation<DeletePaymentToken, AcceptResult> = {
  reads: ({ claim, id }) => ({
    keys: keysOf(claim),
    records: [paymentTokens.ref(id)],
  }),
  decide(uow, input, now) {
    const earlier = findSavedResponse(uow, input.claim, null, now);
    if (earlier) return earlier;
    const token = uow.get(paymentTokens, input.id);
    if (token?.tenant_id !== input.tenantId) {
      return saveResponse(uow, input, refusalResponse(new ApiError('not_found')));
    }
    const isRevoked = token.status === 'revoked';
    const next = isRevoked ? token : changeToken(uow, token, deletedToken(token, now));
    return saveResponse(uow, input, successResponse(presentToken(next), 200), next._id);
  },
  leavesWallet: () => true,
};

/** A request for a page on which the customer saves a payment method. */
type RequestTokenSetup = {
  tenantId: string;
  id: string;
  returnUrl: string | null;
  expiresAfterMs: number;
  claim: Claim | null;
};

/** A fact about a page. */
type ApplyTokenSetupFact = { tenantId: string; id: string; number: number; fact: SetupFact };

/** Asks for a page, once per idempotency key. While one is open, it is answered as it is. */
export const requestTokenSetup: Mutation<RequestTokenSetup, AcceptResult> = {
  reads: ({ claim, id }) => ({
    keys: keysOf(claim),
    records: [paymentTokens.ref(id)],
  }),
  decide(uow, input, now) {
    const earlier = findSavedResponse(uow, input.claim, input.id, now);
    if (earlier) return earlier;
    const token = uow.get(paymentTokens, input.id);
    const refusal = refuse(token, input.tenantId);
    if (refusal || !token) {
      return saveResponse(uow, input, refusalResponse(refusal ?? new ApiError('not_found')));
    }
    const { returnUrl, expiresAfterMs } = input;
    const expiresAt = new Date(now.getTime() + expiresAfterMs);
    const checkAt = new Date(now.getTime() + START_WITHIN_MS);
    const next = openSetup(token)
      ? token
      : requestSetup(token, { returnUrl, expiresAt, checkAt }, now);
    if (next !== token) uow.change(paymentTokens, next);
    return saveResponse(uow, input, successResponse(presentToken(next), 201), next._id);
  },
  leavesWallet: () => true,
};

function refuse(token: PaymentToken | undefined, tenantId: string): ApiError | null {
  if (token?.tenant_id !== tenantId) return new ApiError('not_found');
  const { status } = token;
  if (status === 'unbound') return null;
  const message = `The payment token is ${status}.`;
  return new ApiError('invalid_state', { message, details: { status } });
}

/** Applies a fact about a page. Repeats and facts out of order are safe. */
export const applyTokenSetupFact: Mutation<ApplyTokenSetupFact, { token: PaymentToken | null }> = {
  reads: ({ id }) => ({ records: [paymentTokens.ref(id)] }),
  decide(uow, { id, tenantId, number, fact }, now) {
    const token = uow.get(paymentTokens, id);
    if (token?.tenant_id !== tenantId) return { token: null };
    const next = transitionSetup(token, number, fact, now);
    return { token: next ? changeToken(uow, token, next) : token };
  },
  leavesWallet: () => true,
};
