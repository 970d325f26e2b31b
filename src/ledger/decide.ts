import { kindOf, type Item, type Outcome } from './kinds.js';
import { createView, type Snapshot, type Writes } from './view.js';

/**
 * All the rules of a commit, without a database: items see the effect of those before them, each gets its own
 * outcome, and the writes of all of them are what one transaction has to write. Leaves `snapshot` as it is.
 */
export function decide(
  snapshot: Snapshot,
  items: readonly Item[],
  now: Date,
): { writes: Writes; outcomes: Outcome[] } {
  const view = createView(snapshot);
  const outcomes = items.map((item) => kindOf(item).decide(view, item, now));
  return { writes: view.writes(), outcomes };
}
