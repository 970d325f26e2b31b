import type { RecordRef } from '../../core/instructions/workflow-contract.js';

/** Input of `bulkTransfer`. */
export type BulkTransferInput = RecordRef & {
  /** Number of items, refused ones included. */
  count: number;
  /** Task queue of the provider's bulk transfers. */
  taskQueue: string;
};

/** Items of a bulk transfer from index `from` up to, not including, index `to`. */
export type BulkTransferChunk = RecordRef & { from: number; to: number };
