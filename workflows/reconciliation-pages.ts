import { setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { PageBounds, RecordCounts } from '../src/core/reconciliation/workflow-contract.js';
import { repeatAfterMs } from './page-repeats.js';

/** The counts of a reconciliation, and the position of its next page. */
type Progress<Position> = { position: Position | null; counts: RecordCounts };

/**
 * Compares page after page until none is left, and returns the counts of all. While the providers answer nothing, it pauses and
 * repeats the page, some times.
 */
export async function reconcilePages<Position>(
  from: Progress<Position> & PageBounds,
  run: {
    /** The compared records, in a word. */
    of: string;
    compare(position: Position | null): Promise<Progress<Position>>;
    /** Goes on in a new run from here. */
    continueFrom(progress: Progress<Position>): Promise<never>;
    /** See `repeatAfterMs`. */
    isBounded?: () => boolean;
  },
): Promise<RecordCounts> {
  let { position, counts } = from;
  const bounds = { most: from.pageRepeats, isBounded: run.isBounded };
  let repeats = 0;
  for (;;) {
    const page = await run.compare(position);
    const pauseMs = repeatAfterMs(page.counts, repeats, bounds);
    if (pauseMs !== null) {
      setCurrentDetails('The provider does not answer. The same page is repeated after a pause.');
      await sleep(pauseMs);
      repeats += 1;
    } else {
      repeats = 0;
      ({ position } = page);
      counts = sumOf(counts, page.counts);
      const { asked, differing, settled } = counts;
      setCurrentDetails(
        `${asked} ${run.of} looked up, ${differing} differed, ${settled} corrected.`,
      );
      if (position === null) return counts;
    }
    if (workflowInfo().continueAsNewSuggested) await run.continueFrom({ position, counts });
  }
}

const sumOf = (a: RecordCounts, b: RecordCounts): RecordCounts => ({
  asked: a.asked + b.asked,
  unanswered: a.unanswered + b.unanswered,
  differing: a.differing + b.differing,
  settled: a.settled + b.settled,
});
