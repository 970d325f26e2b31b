import type { MessageReader } from './provider-message.js';
import type {
  About,
  NotFound,
  ResendSafety,
  Throttled,
  Trace,
  Unknown,
  UnknownReason,
} from './port.js';

/**
 * The port of bill providers: a catalogue of billers, and payments to them. The rules of
 * all ports in `port.ts` apply.
 */

/** The properties of a bill provider that decide how it is called. */
type BillTraits = {
  /** Meaning of "not found" for a payment that was not answered. */
  resendSafety: ResendSafety;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
};

/** A kind of biller, such as electricity. */
export type BillCategory = { id: string; name: string };

/** A company whose bills can be paid. */
export type Biller = {
  id: string;
  name: string;
  /** Id of its category. */
  category: string;
  /** The biller's own word for the reference of its customers, such as "meter number". */
  customerReferenceName: string;
};

/** Something that can be paid to a biller. */
export type BillItem = {
  id: string;
  name: string;
  /** The price; null if the customer chooses the amount within the bounds. */
  fixedMinor: bigint | null;
  minMinor: bigint;
  maxMinor: bigint;
  /** True if the biller gives a token for the payment, which the customer enters into a prepaid meter. */
  givesToken: boolean;
};

/** No usable answer to a question about the catalogue or a customer. */
type NoAnswer = { kind: 'no_answer'; reason: UnknownReason };

/** The categories of the catalogue. */
export type CategoriesAnswer = { kind: 'categories'; categories: BillCategory[] } | NoAnswer;
/** Every biller of the catalogue. */
export type BillersAnswer = { kind: 'billers'; billers: Biller[] } | NoAnswer;
/** The items of one biller; none if there is no such biller. */
export type BillItemsAnswer = { kind: 'items'; items: BillItem[] } | NoAnswer;

/** A customer of a biller. */
export type BillCustomer = { billerId: string; itemId: string; customerReference: string };

/** The biller's answer about a customer. `name` is null if the biller tells none. */
export type CustomerAnswer = { kind: 'found'; name: string | null } | NotFound | NoAnswer;

/** A request to pay a bill. */
export type BillRequest = BillCustomer & {
  /** Our own resource id. The provider never sees a caller's reference in its place. */
  reference: string;
  /** The caller's reference, for the provider's metadata. */
  clientReference: string;
  amountMinor: bigint;
  currency: 'NGN';
  /** The time of the decision to submit: a provider may refuse a request that is too old. */
  requestedAt: Date;
};

/** The receipt of a payment. The token is worth the money: it never reaches a log or a history. */
export type BillReceipt = { token: string | null; units: string | null };

/** The state of a bill payment. `code` is that of Bursar, never the provider's own text. */
export type BillState =
  | { kind: 'succeeded'; amountMinor: bigint | null; receipt: BillReceipt | null }
  | { kind: 'rejected'; code: string }
  | { kind: 'reversed'; amountMinor: bigint | null }
  /** `handle`: the provider's id of the payment, if questions are to name it. The record keeps it from the answer to a submission. */
  | { kind: 'pending'; handle?: string };

/** The answer to a request to pay. */
export type BillSubmitAnswer = Trace & (BillState | Throttled | Unknown);
/** The answer to the query of a payment. */
export type BillVerifyAnswer = Trace & (BillState | NotFound | Unknown);

/** An event of a bill payment, as its provider reports it. */
export type BillEvent = {
  /** Equal for repeats of one event: the provider's event id, or a hash of the body. */
  dedupeKey: string;
  /** The reference that we gave: our resource id. */
  reference: string;
  /** Our name of the event, for example `bill.paid`. */
  name: string;
  state: BillState;
  occurredAt: Date | null;
};

/** The port of bill providers. */
export type BillProvider = MessageReader<BillEvent> & {
  name: string;
  bills: BillTraits;
  listCategories(signal: AbortSignal): Promise<CategoriesAnswer>;
  listBillers(signal: AbortSignal): Promise<BillersAnswer>;
  listItems(billerId: string, signal: AbortSignal): Promise<BillItemsAnswer>;
  /** Asks the biller whether it knows a customer. Creates nothing. */
  validate(customer: BillCustomer, signal: AbortSignal): Promise<CustomerAnswer>;
  submit(request: BillRequest, signal: AbortSignal): Promise<BillSubmitAnswer>;
  verify(about: About, signal: AbortSignal): Promise<BillVerifyAnswer>;
};
