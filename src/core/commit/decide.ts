import { mutationOf, type AnyMutationInput, type AnyResult } from './mutations.js';
import { createUnitOfWork, type Snapshot, type Writes } from './unit-of-work.js';

/**
 * All the rules of a commit, without a database: items see the effect of those before them, each gets its own
 * outcome, and the writes of all of them are what one transaction has to write. Leaves `snapshot` as it is.
 */
export function decide(
  snapshot: Snapshot,
  items: readonly AnyMutationInput[],
  now: Date,
): { writes: Writes; results: AnyResult[] } {
  const uow = createUnitOfWork(snapshot);
  const results = items.map((item) => mutationOf(item).decide(uow, item, now));
  return { writes: uow.writes(), results };
}
