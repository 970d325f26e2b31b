import type { MessageReader } from './provider-message.js';
import type {
  About,
  Fault,
  NotFound,
  NotNow,
  Page,
  Ready,
  Rejected,
  ResendSafety,
  Trace,
  Unknown,
  UnknownReason,
  Window,
} from './port.js';

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
  /** The name of a rate that the provider's ports share; left out if this port has one of its own. */
  bucket?: string;
  /** Bound of our submissions, if the provider counts them apart from all other calls; left out if all have the one above. */
  submissions?: { callsPerSecond: number; bucket: string };
  /** Faults that a good answer about our balance does not disprove: an operator ends them. */
  endedByOperator?: readonly Fault[];
  /** The most that the provider takes from our balance on top of a payment; missing or 0 for nothing. */
  feeAtMostMinor?: bigint;
  /** Our balance at the provider, below which an operator is told before a payment has to wait; missing or 0 for no level. */
  floatAlertMinor?: bigint;
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
  /** `feeMinor`: the provider's price to us; null or missing if it is not known yet. */
  | {
      kind: 'succeeded';
      amountMinor: bigint | null;
      feeMinor?: bigint | null;
      sessionId: string | null;
    }
  | Rejected
  | { kind: 'reversed'; amountMinor: bigint | null; sessionId: string | null }
  /**
   * `operator`: somebody on our side has to act at the provider. `handle`: the provider's id of the payment, if questions are to
   * name it. The record keeps it from the answer to a submission, unless it has that of a preparation, which a repeat needs.
   */
  | { kind: 'pending'; awaits?: 'provider' | 'operator'; handle?: string };

/** The answer to a request to pay out. */
export type SubmitAnswer = Trace & (PaymentState | NotNow | Unknown);
/** The answer to the query of a payment. */
export type VerifyAnswer = Trace & (PaymentState | NotFound | Unknown);
/** The answer to a preparation, which has moved nothing. `no_turn`: nothing was sent, because no call was left for it. */
export type PrepareAnswer = Trace & (Ready | Rejected | NotNow | Unknown | { kind: 'no_turn' });
/** The answer to a cancellation. `cancelled`: nothing will ever happen under this reference. */
export type CancelAnswer = Trace & (PaymentState | { kind: 'cancelled' } | NotFound | Unknown);
/** The answer to the query of a part of our transfers. A transfer that is missing in it may exist all the same. */
export type ListAnswer = Trace & (Page<About & { state: PaymentState }> | Unknown);
/** The answer to the query of our balance at the provider. */
export type BalanceAnswer = Trace &
  ({ kind: 'balance'; availableMinor: bigint; currency: string } | Unknown);

/** One movement of our balance by the provider's own ledger. */
export type LedgerEntry = {
  /** The provider's id of the entry. */
  id: string;
  /** The reference of the payment, ours where it is one of ours; null if the entry has none. */
  reference: string | null;
  /** Left out for a reference of a payment. Otherwise it is the provider's id of a refund that it has made, or of a dispute. */
  of?: 'refund' | 'dispute';
  /** Positive: into our balance. Without the fee. */
  amountMinor: bigint;
  feeMinor: bigint | null;
  /** Our balance after it. */
  balanceMinor: bigint;
  at: Date;
  /** Money between us and the provider alone, such as a top-up. */
  own: boolean;
};

/** A part of the provider's ledger. A page may need many calls: `takeTurn` comes before each. */
export type LedgerWindow = Window & { takeTurn: () => Promise<void> };

/** The answer to the query of a part of the provider's ledger. */
export type LedgerAnswer = Trace & (Page<LedgerEntry> | Unknown);

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
  /**
   * Prepares a submission, for example the recipient. Moves nothing, may be repeated, and comes before the submit permit. A
   * provider without it needs no preparation. `takeTurn` comes before its call, if it needs one; false: no call is left.
   */
  prepare?(
    request: TransferRequest & { hadVoidHandle?: boolean; takeTurn?: () => Promise<boolean> },
    signal: AbortSignal,
  ): Promise<PrepareAnswer>;
  submit(
    request: TransferRequest & { handle?: string | null },
    signal: AbortSignal,
  ): Promise<SubmitAnswer>;
  verify(about: About, signal: AbortSignal): Promise<VerifyAnswer>;
  /** Only of a provider with the resend safety `fence`. The answer is final. */
  cancel?(about: About, signal: AbortSignal): Promise<CancelAnswer>;
  /** Up to a hundred transfers with each call, the newest first. */
  list?(window: Window, signal: AbortSignal): Promise<ListAnswer>;
  balance?(signal: AbortSignal): Promise<BalanceAnswer>;
  /** The movements of our balance at the provider, of all ports, the newest first. */
  ledger?(window: LedgerWindow, signal: AbortSignal): Promise<LedgerAnswer>;
};
