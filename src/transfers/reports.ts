import type { PursuitPolicy, RecordRef } from '../pursuits/reports.js';

/** What crosses Temporal for transfers alone. As in pursuits/reports.ts, nothing of persons may be added here. */
export type TransferInput = RecordRef & {
  provider: string;
  /** The provider's own queue, with its own rate limit. */
  providerQueue: string;
  /** Attention is due so long after this, however often the run is replaced. */
  acceptedAtMs: number;
  /** Whether the name enquiry had answered before acceptance. */
  recipientKnown: boolean;
  policy: PursuitPolicy;
  /** The first send is tried where the workflow runs. Not there: begun before that was done. */
  tryHere?: boolean;
};

/** The name enquiry knows no such account. Ends only a transfer whose order has never left us. */
export type NoSuchAccount = { kind: 'no_such_account' };

export type ResolveReport = { kind: 'resolved' | 'no_such_account' | 'no_answer' };

export type TransferBatchInput = RecordRef & {
  /** How many items it has, refused ones too. */
  count: number;
  /** The provider's queue for parts of batches. */
  queue: string;
};

/** The items of a batch from one index to another, the last not in it. */
export type BatchPart = RecordRef & { from: number; to: number };

/** Transfers that were accepted at about the same time, by one provider. */
export type TransferWaveInput = { provider: string; transfers: RecordRef[] };
