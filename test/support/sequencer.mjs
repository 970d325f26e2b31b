import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** These start a whole service and wait for it, so they take longer than their size says. */
const STARTS_A_SERVICE = /\bstart(?:Service|Listening|Rehearsal)\(/;

/**
 * Starts the files that take longest first, so that no worker ends with one. Without the durations of an earlier run, as in
 * a new clone, these are the ones that start a service.
 */
export class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    const startsService = new Map(
      sorted.map((test) => [test, STARTS_A_SERVICE.test(readFileSync(test.path, 'utf8'))]),
    );
    return sorted.toSorted((a, b) => Number(startsService.get(b)) - Number(startsService.get(a)));
  }
}

// oxlint-disable-next-line import/no-default-export -- jest takes a sequencer's default export
export default LongestFirst;
