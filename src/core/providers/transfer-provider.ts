import type { MessageReader } from './provider-message.js';

/**
 * The ports. A provider is one folder that implements them, one line in `registry.ts` and one run of the
 * contract suite. Ports answer with plain values: a provider's silence is an answer too (`unknown`), and only an
 * explicit answer is terminal. No port throws for what the provider did or did not say.
 */

/** What "not found" proves at this provider, after a request whose answer never came. */
export type Absence =
  /** The same reference may be sent again: the provider pays it once. */
  | { kind: 'idempotent' }
  /** Two "not found" this far apart, both after our connection was closed, prove that nothing was done. */
  | { kind: 'conclusive_after'; ms: number }
  /** Nothing proves absence: never send again, ask an operator. */
  | { kind: 'never' };

export type TransferCapabilities = {
  absence: Absence;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
};

export type TransferOrder = {
  /** Our own resource id. The provider never sees a caller's reference in its place. */
  reference: string;
  /** The caller's reference, for the provider's metadata. */
  clientReference: string;
  amountMinor: bigint;
  currency: 'NGN';
  recipient: { account: string; bankCode: string; name: string | null };
  narration: string;
  /** When we decided to send: a provider may refuse what is too old. */
  requestedAt: Date;
};

/** What a provider said about one payment. `code` and `reason` are ours, never the provider's own text. */
export type PaymentState =
  | { kind: 'succeeded'; amountMinor: bigint | null; sessionId: string | null }
  | { kind: 'rejected'; code: string }
  | { kind: 'reversed'; amountMinor: bigint | null; sessionId: string | null }
  | { kind: 'pending' };

/** The provider's own id of the call, for its support desk. */
export type CallTrace = { providerRequestId: string | null };

/** Explicitly not taken: may be sent again after the pause without asking first. */
export type Throttled = { kind: 'throttled'; retryAfterMs: number };

/** Time-out, reset, 5xx, unreadable: it may have been done or not. */
export type Unknown = { kind: 'unknown'; reason: UnknownReason };

export type NotFound = { kind: 'not_found' };

export type InitiateAnswer = CallTrace & (PaymentState | Throttled | Unknown);
export type VerifyAnswer = CallTrace & (PaymentState | NotFound | Unknown);

export type UnknownReason =
  | 'timeout'
  | 'connection'
  | 'server_error'
  | 'unreadable'
  | 'throttled'
  /** Refused for its age: this request did nothing, which says nothing of an earlier one. */
  | 'too_old';

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
  capabilities: TransferCapabilities;
  resolveAccount(
    account: { account: string; bankCode: string },
    signal: AbortSignal,
  ): Promise<NameEnquiryAnswer>;
  /** Every bank that this provider reaches, in any order. */
  listBanks(signal: AbortSignal): Promise<BankListAnswer>;
  initiate(order: TransferOrder, signal: AbortSignal): Promise<InitiateAnswer>;
  verify(reference: string, signal: AbortSignal): Promise<VerifyAnswer>;
};
