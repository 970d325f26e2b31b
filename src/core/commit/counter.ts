import type { AnyBulkWriteOperation } from 'mongodb';
import type { CollectionSpec } from '../../platform/database/migrations.js';

/**
 * A collection of counts that commits keep in step with their records. A change belongs to a tenant whose wallet the same
 * commit writes, so that two commits never change one count at once.
 */
export type Counter<C = unknown> = CollectionSpec & {
  /** One change for each count: the sum of the changes to it; sums of zero are left out. */
  sum(changes: readonly C[]): C[];
  /** The write that adds a change to its count. */
  update(change: C): AnyBulkWriteOperation;
};
