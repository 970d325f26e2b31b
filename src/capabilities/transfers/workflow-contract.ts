import type { InstructionPolicy, RecordRef } from '../../core/instructions/workflow-contract.js';

/** What crosses Temporal for transfers alone. As in core/instructions/workflow-contract.ts, nothing of persons may be added here. */
export type TransferInput = RecordRef & {
  rateLimitKey: string;
  /** The provider's own queue, with its own rate limit. */
  taskQueue: string;
  /** Attention is due so long after this, however often the run is replaced. */
  acceptedAtMs: number;
  /** Whether the name enquiry had answered before acceptance. */
  recipientKnown: boolean;
  policy: InstructionPolicy;
};

/** The name enquiry knows no such account. Ends only a transfer whose order has never left us. */
export type NoSuchAccount = { kind: 'no_such_account' };

export type ResolveRecipientResult = { kind: 'resolved' | 'no_such_account' | 'no_answer' };

export type BulkTransferInput = RecordRef & {
  /** How many items it has, refused ones too. */
  count: number;
  /** The provider's queue for parts of batches. */
  taskQueue: string;
};

/** The items of a batch from one index to another, the last not in it. */
export type BulkTransferChunk = RecordRef & { from: number; to: number };

/** Transfers that were accepted at about the same time, by one provider. */
export type TransferMicroBatchInput = { rateLimitKey: string; transfers: RecordRef[] };
