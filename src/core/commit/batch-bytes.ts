import { BSON } from 'mongodb';
import type { Outgoing } from '../webhooks/deliveries.js';
import type { Writes } from './unit-of-work.js';

/** Bound on what one transaction writes: a larger one holds its wallets for too long. */
export const MAX_BATCH_BYTES = 1_000_000;

/**
 * The decided writes of a batch are larger than `MAX_BATCH_BYTES`; nothing was written. The weights by which mutations are
 * grouped are estimates, made before the sizes of records, events and deliveries are known.
 */
export class BatchTooLarge extends Error {
  constructor(readonly bytes: number) {
    super(`the batch would write ${bytes} bytes`);
  }

  /** The number of parts that are each expected to be small enough. */
  get parts(): number {
    return Math.ceil(this.bytes / MAX_BATCH_BYTES);
  }
}

/** The bytes of the documents that a commit writes: records, postings, keys, events and deliveries, as BSON. */
export function bytesOf(
  { newKeys, renewedKeys, created, changed, postings }: Writes,
  outgoing: readonly Outgoing[],
): number {
  const records = [created, changed].flatMap((set) => set.collections().map((of) => set.all(of)));
  const events = outgoing.flatMap(({ event, deliveries }) => [event, ...deliveries]);
  const documents: object[] = [newKeys, renewedKeys, postings, ...records, events].flat();
  return documents.reduce((sum: number, document) => sum + BSON.calculateObjectSize(document), 0);
}
