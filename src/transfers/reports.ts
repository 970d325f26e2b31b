import type { TransferStatus } from './transfer.js';
import type { Absence, UnknownReason } from '../providers/provider.js';

/**
 * What crosses Temporal: kinds, codes and references. No account number, name or provider's text may be added here,
 * for it would stay in workflow histories. Amounts are integers in kobo.
 */
export type TransferInput = {
  id: string;
  tenant: string;
  provider: string;
  /** The provider's own queue, with its own rate limit. */
  providerQueue: string;
  /** Attention is due so long after this, however often the run is replaced. */
  acceptedAtMs: number;
  /** Whether the name enquiry had answered before acceptance. */
  recipientKnown: boolean;
  policy: TransferPolicy;
};

/** Set at the start, so that a replay never reads configuration. */
export type TransferPolicy = {
  attentionAfterMs: number;
  pollMaxMs: number;
};

export type TransferRef = { tenant: string; id: string };

/** A fact as a report: something that ends the transfer or stands against what is booked. */
export type FactReport = { providerRequestId: string | null; via: 'provider_answer' | 'poll' } & (
  | { kind: 'paid'; amountMinor: number | null; sessionId: string | null }
  | { kind: 'reversed'; amountMinor: number | null; sessionId: string | null }
  | { kind: 'refused'; code: string }
  | { kind: 'no_such_account' }
  | { kind: 'confirmed' }
);

/** How often the order was let out, and how often it may have been taken: the rest was explicitly not. */
export type Sends = { sends: number; tries: number };

/** What a provider call came to. `sends` is how often the order has been let out so far. */
export type CallReport =
  | FactReport
  | { kind: 'pending' }
  | ({ kind: 'throttled'; retryAfterMs: number } & Sends)
  | ({ kind: 'unknown'; reason: UnknownReason | 'activity_failed' } & Partial<Sends>)
  /** Asked and not found: proves absence only as far as the provider's capability says, as its adapter declares it. */
  | ({ kind: 'not_found'; absence: Absence } & Sends)
  /** Somebody else has the permission to send: ask the provider. */
  | { kind: 'not_permitted'; attention: string | null }
  /** The order was never let out. */
  | ({ kind: 'unsent' } & Sends)
  /** The record has come to its end, by this or another way; `attention` says what an operator still has to see. */
  | { kind: 'closed'; attention: string | null };

/** How the transfer stands after a fact; still open where the fact did not fit what was ordered. */
export type SettleReport = {
  status: TransferStatus;
  attention: string | null;
  /** The bank is asked on, for a payment that may show up although the transfer was given up. */
  watched: boolean;
};

/** What an operator asked for. Reason and actor are for the timeline. */
export type OperatorCommand = {
  kind: 'retry' | 'verify' | 'complete' | 'fail';
  actor: string;
  reason: string;
  /** The bank's session id as the operator has it from the bank; has to be the one that the bank reports. */
  sessionId: string | null;
  /** With `fail`: release although the bank is silent or undecided, and watch on. */
  force: boolean;
};

/** How the record stands before an operator's command is judged. */
export type Standing = { status: TransferStatus; attention: string | null };

export type OperatorAnswer = { done: boolean; message: string };

export type ResolveReport = { kind: 'resolved' | 'no_such_account' | 'no_answer' };

export type TransferBatchInput = {
  id: string;
  tenant: string;
  /** How many items it has, refused ones too. */
  count: number;
  /** The provider's queue for parts of batches. */
  queue: string;
};

/** The items of a batch from one index to another, the last not in it. */
export type BatchPart = TransferRef & { from: number; to: number };
