import { BOUNDS_OF_OLDER_RUNS, RECONCILIATION_PAUSE_MS } from './policies.js';

type Counts = { asked: number; unanswered: number };

/**
 * Returns the pause before a page of a reconciliation is repeated because none of its records was answered; null if the run goes
 * on to the next page. After `most` repeats it goes on all the same: one record that no provider answers must not keep
 * the records after it from their comparison. `isBounded` is asked only then.
 */
export function repeatAfterMs(
  { asked, unanswered }: Counts,
  repeats: number,
  {
    most = BOUNDS_OF_OLDER_RUNS.pageRepeats,
    isBounded = () => true,
  }: { most?: number | undefined; isBounded?: (() => boolean) | undefined } = {},
): number | null {
  if (asked === 0 || unanswered < asked) return null;
  if (repeats >= most && isBounded()) return null;
  const { first, longest } = RECONCILIATION_PAUSE_MS;
  return Math.min(first * 2 ** repeats, longest);
}
