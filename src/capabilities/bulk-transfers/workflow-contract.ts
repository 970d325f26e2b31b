import type { RecordRef } from '../../core/instructions/workflow-contract.js';

/** Transfers per chunk of a bulk transfer: enough to spread an activity's cost, few enough to end while a worker drains. */
export const CHUNK_SIZE = 25;
/** Chunks of one bulk transfer in flight, so that a large one leaves capacity for others. */
export const CHUNKS_AT_ONCE = 4;

/** Input of `bulkTransfer`. */
export type BulkTransferInput = RecordRef & {
  /** Number of items, refused ones included. */
  count: number;
  /** Task queue of the provider's bulk transfers. */
  taskQueue: string;
  /** `CHUNK_SIZE` and `CHUNKS_AT_ONCE` of the version that started the run. Older runs have none. */
  chunkSize?: number;
  chunksAtOnce?: number;
};

/** Items of a bulk transfer from index `from` up to, not including, index `to`. */
export type BulkTransferChunk = RecordRef & { from: number; to: number };
