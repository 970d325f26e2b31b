import type { MessageReader } from './provider-message.js';
import type { NotFound, ResendSafety, Throttled, Trace, Unknown, UnknownReason } from './port.js';

export type {
  NotFound,
  ResendSafety,
  Throttled,
  Trace as CallTrace,
  Unknown,
  UnknownReason,
} from './port.js';

/** The properties of a transfer provider that decide how it is called. */
type TransferTraits = {
  resendSafety: ResendSafety;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
};

/** A request to pay out. */
export type TransferRequest = {
  /** Our own resource id. The provider never sees a caller's reference in its place. */
  reference: string;
  /** The caller's reference, for the provider's metadata. */
  clientReference: string;
  amountMinor: bigint;
  currency: 'NGN';
  recipient: { account: string; bankCode: string; name: string | null };
  narration: string;
  /** The time of the decision to submit: a provider may refuse a request that is too old. */
  requestedAt: Date;
};

/** The state of one payment. `code` and `reason` are those of Bursar, never the provider's own text. */
export type PaymentState =
  | { kind: 'succeeded'; amountMinor: bigint | null; sessionId: string | null }
  | { kind: 'rejected'; code: string }
  | { kind: 'reversed'; amountMinor: bigint | null; sessionId: string | null }
  | { kind: 'pending' };

/** The answer to a request to pay out. */
export type SubmitAnswer = Trace & (PaymentState | Throttled | Unknown);
/** The answer to the query of a payment by its reference. */
export type VerifyAnswer = Trace & (PaymentState | NotFound | Unknown);

/** The answer to the query of an account's holder. */
export type NameEnquiryAnswer =
  | { kind: 'found'; name: string; bankName: string }
  | { kind: 'not_found' }
  | { kind: 'no_answer'; reason: UnknownReason };

/** A bank that money can be sent to. The two numberings are unrelated: neither is made from the other. */
export type Bank = {
  name: string;
  /** The code of the central bank, 3 to 6 digits. */
  code: string;
  /** The institution code of the interbank network, 6 digits. */
  nipCode: string;
};

/** The answer to the query of all banks. */
export type BankListAnswer =
  { kind: 'banks'; banks: Bank[] } | { kind: 'no_answer'; reason: UnknownReason };

/** An event of a transfer, as its provider reports it. */
export type TransferEvent = {
  /** Equal for repeats of one event: the provider's event id, or a hash of the body. */
  dedupeKey: string;
  /** The reference that we gave: our resource id. */
  reference: string;
  /** Our name of the event, for example `transfer.paid`. */
  name: string;
  state: PaymentState;
  occurredAt: Date | null;
};

/** The port of transfer providers. */
export type TransferProvider = MessageReader<TransferEvent> & {
  name: string;
  traits: TransferTraits;
  resolveAccount(
    account: { account: string; bankCode: string },
    signal: AbortSignal,
  ): Promise<NameEnquiryAnswer>;
  /** Every bank that this provider reaches, in any order. */
  listBanks(signal: AbortSignal): Promise<BankListAnswer>;
  submit(request: TransferRequest, signal: AbortSignal): Promise<SubmitAnswer>;
  verify(reference: string, signal: AbortSignal): Promise<VerifyAnswer>;
};
