import type { MessageReader } from './provider-message.js';
import type { ResendSafety, CallTrace, NotFound, Throttled, Unknown } from './transfer-provider.js';

/**
 * The port of payment providers: charges, reusable authorizations, refunds. As for transfers: plain values, a missing
 * answer is the value `unknown`, only an explicit answer is terminal, and no answer makes a method throw. No card number and no security code passes here in either direction: the provider's own page takes them.
 */

/** The properties of a payment provider that decide how it is called. */
type PaymentTraits = {
  /**
   * Meaning of "not found" for a merchant-initiated charge that was not answered; `idempotent`: one reference is charged
   * once. A page moves no money by itself, so the request for it is safe to repeat under its reference.
   */
  charges: ResendSafety;
  /** The same for a refund that is not in the list. No provider is known to de-duplicate refunds. */
  refunds: ResendSafety;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
};

/** The customer of a tenant. `id` is the tenant's id. */
export type Customer = { id: string; email: string; name: string | null };

type ChargeRequest = {
  /** Our own id of the charge, or of this attempt at it. */
  reference: string;
  /** The tenant's reference, for the provider's metadata. */
  clientReference: string;
  amountMinor: bigint;
  currency: 'NGN';
  customer: Customer;
  /** The time of the decision to submit: a provider may refuse a request that is too old. */
  requestedAt: Date;
};

/** A charge with the customer present, who pays on the provider's page. */
export type ChargePageRequest = ChargeRequest & {
  channel: { type: 'card' } | { type: 'bank_account'; account: string; bankCode: string };
  /** The page sends the customer here at the end, with our `reference` as a query parameter. */
  returnUrl: string | null;
};

/** A charge without the customer. */
export type TokenChargeRequest = ChargeRequest & {
  /** The `code` of an authorization. */
  authorization: string;
};

/** A customer's authorization at the provider, with which later charges are possible. */
export type ChargeAuthorization = {
  /** Opaque and secret: with it and our key, anybody can charge. It never reaches a log or a history. */
  code: string;
  type: 'card' | 'bank_account';
  brand: string | null;
  last4: string | null;
  expiryMonth: number | null;
  expiryYear: number | null;
  bankCode: string | null;
  bankName: string | null;
  reusable: boolean;
};

/** The state of a charge. Codes and reasons are those of Bursar, here and below, never the provider's own text. */
export type ChargeState =
  /** Not paid yet: it awaits an action of the customer, or the outcome from the provider. */
  /** `lastDecline`: a payment method was declined on the page, which is still open for another one. */
  | { kind: 'pending'; awaits: 'customer' | 'provider'; lastDecline?: string }
  /** The paid amount and currency may differ from the requested ones. */
  | {
      kind: 'succeeded';
      amountMinor: bigint;
      /** ISO 4217. */
      currency: string;
      /** The fee that the provider keeps; null if it does not report one. */
      feeMinor: bigint | null;
      authorization: ChargeAuthorization | null;
    }
  /** Declined. After a soft decline, another attempt on another day under another reference may succeed. */
  | { kind: 'rejected'; code: string; decline: 'soft' | 'hard' }
  /** The customer has left without paying. A payment that is proven later still counts. */
  | { kind: 'abandoned' };

/** The answer to a request for a page. It is safe to repeat under one reference: one page, and at most one payment. */
type InitializeAnswer = CallTrace &
  ({ kind: 'redirect'; url: string } | { kind: 'rejected'; code: string } | Throttled | Unknown);

/** The answer to a charge of an authorization. */
export type ChargeAnswer = CallTrace & (ChargeState | Throttled | Unknown);
/** The answer to the query of a charge by its reference. */
export type VerifyChargeAnswer = CallTrace & (ChargeState | NotFound | Unknown);

/** A request to refund. The provider takes no reference, and each accepted repeat refunds again: find before a repeat. */
export type RefundRequest = {
  /** Our reference of the charge. */
  charge: string;
  amountMinor: bigint;
  currency: 'NGN';
  /** Our id of the refund, in a free text of the provider. The refund can be found by it alone. */
  marker: string;
  /** The tenant's reference, if the provider has a field for it. */
  clientReference: string;
  requestedAt: Date;
};

/** The state of a refund at the provider. */
export type RefundState =
  | { kind: 'pending' }
  | { kind: 'refunded' }
  | { kind: 'rejected'; code: string }
  /** It had reached the customer, and the money is back with the provider: it has failed after all. */
  | { kind: 'returned' };

/** A refund at the provider. */
export type Refund = {
  /** The provider's. */
  id: string;
  /** Null or not an id of ours: the refund was made elsewhere, for example in the provider's dashboard. */
  marker: string | null;
  amountMinor: bigint;
  currency: string;
  state: RefundState;
};

/** The answer to a request to refund. */
export type RefundAnswer = CallTrace &
  (
    | { kind: 'taken'; refund: Refund }
    /** No refund was created. */
    | { kind: 'rejected'; code: string }
    | Throttled
    | Unknown
  );

/** All refunds of a charge, the oldest first. */
type FindRefundsAnswer = CallTrace &
  (
    | { kind: 'refunds'; refunds: Refund[] }
    /** There is no such charge. */
    | NotFound
    | Unknown
  );

/** The answer to a revocation. `revoked`: no further charge is possible with it. The request is safe to repeat. */
export type RevokeAnswer = CallTrace & ({ kind: 'revoked' } | NotFound | Throttled | Unknown);

/** An event of a charge or a refund, as its provider reports it. */
export type PaymentEvent = {
  /** Equal for repeats of one event: the provider's event id, or a hash of the body. */
  dedupeKey: string;
  /** Our reference of the charge. */
  charge: string;
  /** Our name of the event, for example `charge.paid`. */
  name: string;
  about: { subject: 'charge'; state: ChargeState } | { subject: 'refund'; refund: Refund };
  occurredAt: Date | null;
};

/** The port of payment providers. */
export type PaymentProvider = MessageReader<PaymentEvent> & {
  name: string;
  payments: PaymentTraits;
  initializeCharge(request: ChargePageRequest, signal: AbortSignal): Promise<InitializeAnswer>;
  chargeAuthorization(request: TokenChargeRequest, signal: AbortSignal): Promise<ChargeAnswer>;
  verifyCharge(reference: string, signal: AbortSignal): Promise<VerifyChargeAnswer>;
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundAnswer>;
  findRefunds(charge: string, signal: AbortSignal): Promise<FindRefundsAnswer>;
  revokeAuthorization(authorization: string, signal: AbortSignal): Promise<RevokeAnswer>;
};
