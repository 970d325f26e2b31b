import type { MessageReader } from './provider-message.js';
import type { Absence, CallTrace, NotFound, Throttled, Unknown } from './transfer-provider.js';

/**
 * The port of who takes payments: charges, reusable authorizations, refunds. As for transfers: plain values, a silence
 * is an answer (`unknown`), only an explicit answer is terminal, and nothing throws for what the provider did or did
 * not say. No card number and no security code passes here in either direction: the provider's own page takes them.
 */

export type PaymentCapabilities = {
  /**
   * What "not found" proves of a merchant-initiated charge whose answer never came; `deduplicates`: one reference is
   * charged once. A page moves no money by itself, and may always be asked for again under its reference.
   */
  charges: Absence;
  /** Likewise of a refund that is not in the list. No provider is known to de-duplicate refunds. */
  refunds: Absence;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
};

export type Customer = { id: string; email: string; name: string | null };

type Order = {
  /** Our own id of the charge, or of this attempt at it. */
  reference: string;
  /** The tenant's reference, for the provider's metadata. */
  clientReference: string;
  amountMinor: bigint;
  currency: 'NGN';
  customer: Customer;
  /** When we decided to send: a provider may refuse what is too old. */
  requestedAt: Date;
};

/** A charge with the customer present, who pays on the provider's page. */
export type PageOrder = Order & {
  channel: { type: 'card' } | { type: 'bank_account'; account: string; bankCode: string };
  /** Where the page sends the customer in the end, with our `reference` as a query parameter. */
  returnUrl: string | null;
};

/** A charge without the customer. */
export type AuthorizedOrder = Order & {
  /** The `code` of an authorization. */
  authorization: string;
};

/** What a customer has left with the provider, to be charged again. */
export type ChargeAuthorization = {
  /** Opaque, and as good as a secret: whoever has it and our key can charge. Never in a log or a history. */
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

/** Codes and reasons are ours, here and below, never the provider's own text. */
export type ChargeState =
  /** Nobody has paid yet: the customer has still to act, or the provider to say how it ended. */
  | { kind: 'pending'; awaits: 'customer' | 'provider' }
  /** What really was paid, which may differ from what was asked for. */
  | {
      kind: 'succeeded';
      amountMinor: bigint;
      /** ISO 4217. */
      currency: string;
      /** What the provider keeps; null: it does not say. */
      feeMinor: bigint | null;
      authorization: ChargeAuthorization | null;
    }
  /** Declined. Softly: another attempt on another day, under another reference, may work. */
  | { kind: 'rejected'; code: string; decline: 'soft' | 'hard' }
  /** The customer has left without paying. A payment that is proven later counts all the same. */
  | { kind: 'abandoned' };

/** Safe to repeat under one reference: it is one page, and one payment at the most. */
export type InitializeAnswer = CallTrace &
  ({ kind: 'redirect'; url: string } | { kind: 'rejected'; code: string } | Throttled | Unknown);

export type ChargeAnswer = CallTrace & (ChargeState | Throttled | Unknown);
export type VerifyChargeAnswer = CallTrace & (ChargeState | NotFound | Unknown);

/** The provider takes no reference of ours, and every repeat that it takes refunds again: find before you repeat. */
export type RefundOrder = {
  /** Our reference of the charge. */
  charge: string;
  amountMinor: bigint;
  currency: 'NGN';
  /** Our id of the refund, in a free text of the provider: all that it can be found by. */
  marker: string;
  /** The tenant's reference, where the provider has a place for it. */
  clientReference: string;
  requestedAt: Date;
};

export type RefundState =
  { kind: 'pending' } | { kind: 'refunded' } | { kind: 'rejected'; code: string };

export type Refund = {
  /** The provider's. */
  id: string;
  /** Null, or no id of ours: it was made by somebody else, at the provider's own desk for one. */
  marker: string | null;
  amountMinor: bigint;
  currency: string;
  state: RefundState;
};

export type RefundAnswer = CallTrace &
  (
    | { kind: 'taken'; refund: Refund }
    /** Nothing was made of it. */
    | { kind: 'rejected'; code: string }
    | Throttled
    | Unknown
  );

/** All refunds of a charge, the oldest first. */
export type FindRefundsAnswer = CallTrace &
  (
    | { kind: 'refunds'; refunds: Refund[] }
    /** There is no such charge. */
    | NotFound
    | Unknown
  );

/** `revoked`: nothing can be charged with it any more. May be asked for again and again. */
export type RevokeAnswer = CallTrace & ({ kind: 'revoked' } | NotFound | Throttled | Unknown);

export type PaymentEvent = {
  /** Equal for repeats of one event: the provider's event id, or a hash of the body. */
  dedupeKey: string;
  /** Our reference of the charge. */
  charge: string;
  /** Our name for it, `charge.paid` for one. */
  name: string;
  about: { subject: 'charge'; state: ChargeState } | { subject: 'refund'; refund: Refund };
  occurredAt: Date | null;
};

/** The port of payment providers. */
export type PaymentProvider = MessageReader<PaymentEvent> & {
  name: string;
  payments: PaymentCapabilities;
  initializeCharge(order: PageOrder, signal: AbortSignal): Promise<InitializeAnswer>;
  chargeAuthorization(order: AuthorizedOrder, signal: AbortSignal): Promise<ChargeAnswer>;
  verifyCharge(reference: string, signal: AbortSignal): Promise<VerifyChargeAnswer>;
  refund(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer>;
  findRefunds(charge: string, signal: AbortSignal): Promise<FindRefundsAnswer>;
  revokeAuthorization(authorization: string, signal: AbortSignal): Promise<RevokeAnswer>;
};
