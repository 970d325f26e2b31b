import {
  createStartPause,
  createStartPauses,
  groupsOf,
  MAX_MICRO_BATCH,
} from '../../src/capabilities/transfers/workflow-starter.js';
import { pendingTransfer } from '../support/transfers.js';

/** The pauses after starts of these sizes, `apartMs` after each other. */
function pausesOf(sizes: number[], apartMs: number): number[] {
  let clock = 0;
  const pauseAfter = createStartPause(() => clock);
  return sizes.map((size) => {
    clock += apartMs;
    return pauseAfter(size);
  });
}

const times = (count: number, size: number) => Array<number>(count).fill(size);

test('up to 25 transfers a second, no transfer waits for others', () => {
  expect(pausesOf(times(100, 1), 40)).toEqual(times(100, 0));
});

test('the pause grows with the transfers of the last second, to 100 ms and no further', () => {
  const pauses = pausesOf(times(60, 1), 10);
  expect(pauses.slice(24, 28)).toEqual([0, 4, 8, 12]);
  expect(pauses.slice(49)).toEqual(times(11, 100));
});

test('the next start follows a full micro-batch at once', () => {
  expect(pausesOf([MAX_MICRO_BATCH - 1, MAX_MICRO_BATCH, MAX_MICRO_BATCH - 1], 10)).toEqual([
    0, 0, 100,
  ]);
});

test('a second without a transfer ends the pauses', () => {
  const pauses = pausesOf([24, 24, 1], 1_000);
  expect(pauses).toEqual([0, 0, 0]);
});

/** Pauses that would outlast every test, and a record of those that are over. */
function longPauses() {
  const pauses = createStartPauses(() => 2 ** 30);
  const over: string[] = [];
  const begin = (name: string) => void pauses.begin(1).over.then(() => over.push(name));
  return { ...pauses, begin, over, turn: () => new Promise(setImmediate) };
}

function workflow() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, end: () => end() };
}

test('a pause ends when no workflow of this process is under way, and not while one is', async () => {
  const { begin, watch, over, turn } = longPauses();
  const [first, second] = [workflow(), workflow()];
  begin('first');
  watch(first.ended);
  watch(second.ended);
  first.end();
  await turn();
  expect(over).toEqual([]);
  second.end();
  await turn();
  expect(over).toEqual(['first']);
});

test('the end of an earlier workflow does not end the pause after a later start', async () => {
  const { begin, end, watch, over, turn } = longPauses();
  const [earlier, later] = [workflow(), workflow()];
  begin('first');
  watch(earlier.ended);
  end();
  begin('second');
  watch(later.ended);
  earlier.end();
  await turn();
  expect(over).toEqual(['first']);
  later.end();
  await turn();
  expect(over).toEqual(['first', 'second']);
});

test('a transfer that was started without an effect is alone in its group, and keeps no other one from a new workflow', () => {
  const starts = (count: number) => ({ ...pendingTransfer(), stalled: { starts: count } });
  const [stuck, beside, first, second] = [starts(1), starts(2), starts(0), pendingTransfer()];
  const groups = groupsOf([stuck, first, beside, second]);
  expect(groups).toEqual([[first, second], [stuck], [beside]]);
});
