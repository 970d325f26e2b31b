import type {
  About,
  NotFound,
  Page,
  Ready,
  ResendSafety,
  Submit,
  Traits,
  Verify,
  Window,
} from './port.js';
import type { MessageReader } from './provider-message.js';

/**
 * The port of payment providers: charges, saved methods, refunds, disputes. Plain values, a missing answer is the value
 * `unknown`, only an explicit answer is terminal, and no answer makes a method throw. No card number and no security code
 * passes here in either direction: the provider's own page takes them.
 */

/** The kinds of calls, each with a rate of its own. */
export type PaymentCall =
  'page' | 'prepare' | 'confirm' | 'verify' | 'cancel' | 'setup' | 'refund' | 'find' | 'revoke';

/** The properties of a payment provider that decide how it is called. */
export type PaymentTraits = Traits<PaymentCall> & {
  /** Meaning of "not found" for a charge of a saved method that was not answered. */
  charges: ResendSafety;
  /** The same for a refund that is not in the list. No provider is known to de-duplicate refunds. */
  refunds: ResendSafety;
  /**
   * `repeatable`: a repeated request for a page answers with the same page. `new_reference`: the address of a page is given
   * once; if it is lost, another page is opened under another reference.
   */
  pages: 'repeatable' | 'new_reference';
  /**
   * `returned`: a refund that was made may be reported as `rejected` later, with the meaning of `returned`. Without it such a
   * report contradicts the first one, and an operator decides.
   */
  lateRefusals?: 'returned';
};

/** The customer of a tenant. `id` is the tenant's id. */
export type Customer = { id: string; email: string; name: string | null };

/** A means of payment that a page offers. */
export type Channel =
  { type: 'card' } | { type: 'bank_account'; account: string; bankCode: string };

type ChargeRequest = {
  /** Our own id of the charge, with the number of this attempt at it. */
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
  channel: Channel;
  /** The page sends the customer here at the end, with the provider's form of `reference` as a query parameter. */
  returnUrl: string | null;
};

/** A charge without the customer. The customer's e-mail is the one that the method was saved under. */
export type TokenChargeRequest = ChargeRequest & {
  /** The `code` of a saved method. */
  method: string;
  /** Where the customer returns to, if the provider wants the customer to act after all. */
  returnUrl: string | null;
};

/** A request to save a method without moving money. */
export type SetupRequest = Omit<ChargePageRequest, 'amountMinor' | 'currency'>;

/** A method that a customer has left at the provider, with which later charges are possible. */
export type SavedMethod = {
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
  /** The e-mail address that it was saved under, if the provider names it: later charges send this one. */
  email: string | null;
};

/** A decline in our code. After a soft one, another attempt on another day may succeed. */
export type Decline = { code: string; decline: 'soft' | 'hard' };

/** The state of a charge. Codes and reasons are those of Bursar, here and below, never the provider's own text. */
export type ChargeState =
  /**
   * Not paid yet. `redirect`: the page on which the customer continues, also of a charge without the customer (3-D Secure).
   * `lastDecline`: a method was declined on the page, which is still open for another one.
   */
  | {
      kind: 'pending';
      awaits: 'customer' | 'provider';
      redirect: string | null;
      lastDecline: Decline | null;
    }
  | {
      kind: 'succeeded';
      /** Paid towards the charge; it may differ from the requested amount. */
      amountMinor: bigint;
      /** The provider's own surcharge on top. It is never ours. */
      surchargeMinor: bigint;
      /** ISO 4217. */
      currency: string;
      /** The fee that the provider keeps of the amount; null if it does not report one yet. */
      feeMinor: bigint | null;
      method: SavedMethod | null;
    }
  /** This attempt was declined, for good. */
  | ({ kind: 'declined' } & Decline)
  /** Nobody pays at present. The page is still open. */
  | { kind: 'abandoned' }
  /** It can never be paid. */
  | { kind: 'cancelled' }
  /** It had succeeded, and the money was taken back: its refunds and disputes say how. */
  | { kind: 'reversed' };

/** The state of a method that is saved without a charge. */
export type SetupState =
  { kind: 'pending' } | { kind: 'saved'; method: SavedMethod } | { kind: 'declined'; code: string };

/**
 * A question about a charge. `isOnPage`: the customer was sent to a page, on which another attempt may follow a declined one. Without
 * it, the provider's own note of the charge tells.
 */
export type AboutCharge = About & { isOnPage?: boolean };

/** A page for the customer. `handle`: the provider's own id of what the page is for. */
export type OpenPage = {
  kind: 'page';
  url: string;
  handle: string | null;
  /** When the page closes, if the provider closes it. */
  expiresAt: Date | null;
};

/** A request to refund. The provider takes no reference, and each accepted repeat refunds again: find before a repeat. */
export type RefundRequest = {
  charge: About;
  amountMinor: bigint;
  currency: 'NGN';
  /** Our id of the refund, in a free text of the provider. The refund can be found by it alone. */
  marker: string;
  /** The tenant's reference, if the provider has a field for it. */
  clientReference: string;
  requestedAt: Date;
};

/** A refund at the provider. */
export type Refund = {
  /** The provider's; null as long as it has none. */
  id: string | null;
  /** Null or not an id of ours: the refund was made elsewhere, for example in the provider's dashboard. */
  marker: string | null;
  charge: About;
  /** The provider's id of the dispute whose money this is: it is booked there, and not as a refund. */
  dispute: string | null;
  amountMinor: bigint;
  currency: string;
  /**
   * `returned`: the money is back with us, also after `succeeded`. `needs_account`: it waits for the customer's bank account,
   * which an operator sends.
   */
  state: 'pending' | 'succeeded' | 'rejected' | 'returned' | 'needs_account';
  /** The reason of a rejection, if the provider has one. */
  code?: string;
};

/** A dispute of a charge at the provider: the customer's bank demands the money back. */
export type Dispute = {
  /** The provider's. */
  id: string;
  charge: About;
  amountMinor: bigint;
  currency: string;
  state: 'open' | 'won' | 'lost';
  /**
   * The claim was declined, and the charge is reversed all the same, so the dispute is `lost`, unless refunds explain the reversal.
   * Absent or false if the provider says itself that it is lost.
   */
  byReversal?: boolean;
  /** `taken`: the provider has withdrawn the amount while the dispute is open. */
  funds: 'with_us' | 'taken';
  reason: string | null;
  /** When it is lost if nobody answers it. */
  dueAt: Date | null;
};

/** The bank account of a customer for a refund that cannot reach the card. */
export type RefundAccount = { account: string; bankCode: string };

/**
 * A question about a refund or a dispute of a charge: those since this time, one page after the other. `mayGoOn` is asked before
 * each further call that the adapter makes for this question; false ends it without an answer.
 */
export type FindRequest = About & {
  since: Date;
  cursor: string | null;
  mayGoOn?: () => Promise<boolean>;
};

/**
 * A question about the refunds of a charge. `newEnough`: a list that the adapter has begun to read since then will do, so that
 * many questions share one; without it the list is read now.
 */
export type FindRefundsRequest = FindRequest & { newEnough?: Date };

/** An event of a charge, as its provider reports it. */
export type PaymentEvent = {
  /** Equal for repeats of one event: the provider's event id, or a hash of the body. See `repeatKey`. */
  dedupeKey: string;
  /** Our reference: of the charge, or of the setup. */
  reference: string;
  /** Our name of the event, for example `charge.paid`. */
  name: string;
  about:
    | { subject: 'charge'; state: ChargeState }
    /**
     * `repeatKey`: equal for equal messages about refunds that they do not name, such as the repeats of one. Two refunds may have
     * such messages, so each is an event of its own. Null or absent if the `dedupeKey` of repeats is equal.
     */
    | { subject: 'refund'; refund: Refund; repeatKey?: string | null }
    /** `reminds`: the provider reminds of a dispute that nobody has answered. */
    | { subject: 'dispute'; dispute: Dispute; reminds?: boolean }
    | { subject: 'setup'; state: SetupState };
  occurredAt: Date | null;
};

/** The answer to a charge of a saved method. */
export type ChargeAnswer = Awaited<ReturnType<PaymentProvider['confirmCharge']>>;
/** The answer to the question about a charge. */
export type VerifyChargeAnswer = Awaited<ReturnType<PaymentProvider['verifyCharge']>>;
/** The answer to a request to refund. */
export type RefundAnswer = Awaited<ReturnType<PaymentProvider['refund']>>;
/** The answer to a revocation. */
export type RevokeAnswer = Awaited<ReturnType<PaymentProvider['revokeMethod']>>;

/** The port of payment providers. References are ours: the adapter converts them by its trait. */
export type PaymentProvider = MessageReader<PaymentEvent> & {
  name: string;
  payments: PaymentTraits;
  openPage: Submit<ChargePageRequest, OpenPage>;
  /** A step before `confirmCharge`, if the provider has one. It moves no money and may be repeated. */
  prepareCharge?: Submit<TokenChargeRequest, Ready>;
  confirmCharge: Submit<TokenChargeRequest & { handle: string | null }, ChargeState>;
  verifyCharge: Verify<AboutCharge, ChargeState>;
  /**
   * Ends an open charge, and answers with its state then: it may have been paid before. With the resend safety `fence`, the
   * cancellation of a charge that the provider does not know is answered with `cancelled`, and is final.
   */
  cancelCharge?: Verify<About, ChargeState>;
  /** Opens a page on which the customer leaves a method without paying. */
  setUp?: Submit<SetupRequest, OpenPage>;
  verifySetup?: Verify<About, SetupState>;
  refund: Submit<RefundRequest, { kind: 'accepted'; refund: Refund }>;
  /** Continues a refund that waits for the customer's account. */
  resumeRefund?: Submit<
    { id: string; account: RefundAccount },
    { kind: 'accepted'; refund: Refund }
  >;
  /** The refunds of a charge, page by page. A page may have refunds of other charges too. */
  findRefunds: Verify<FindRefundsRequest, Page<Refund>>;
  /** The disputes of a charge, as `findRefunds`. */
  findDisputes: Verify<FindRequest, Page<Dispute>>;
  /** The disputes of all charges that were opened in a window. One that is missing in it may exist all the same. */
  listDisputes?: Verify<Window, Page<Dispute>>;
  /** `revoked`: no further charge is possible with it. Safe to repeat. */
  revokeMethod: Submit<{ code: string }, { kind: 'revoked' } | NotFound>;
};
