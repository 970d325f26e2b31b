import fc from 'fast-check';
import { createHealth } from '../../../src/core/webhooks/attempts.js';
import { createLanes } from '../../../src/core/webhooks/lanes.js';

type Job = { lane: string; end: () => void };

/** Lanes whose jobs end when the test says so. */
function openLanes(bounds: { maxPerLane: number; maxInAll: number; maxWaitingPerLane: number }) {
  const running: Job[] = [];
  const lanes = createLanes<{ lane: string }>({
    ...bounds,
    run: ({ lane }) =>
      new Promise((resolve) => {
        const job = {
          lane,
          end() {
            running.splice(running.indexOf(job), 1);
            resolve();
          },
        };
        running.push(job);
      }),
  });
  const of = (lane: string) => running.filter((job) => job.lane === lane);
  const offer = (lane: string) => lanes.offer(lane, { lane });
  return { lanes, running, of, offer };
}

const turn = () => new Promise(setImmediate);

describe('lanes', () => {
  test('a lane whose jobs never end fills its own slots and none of other lanes', async () => {
    const { lanes, of, offer } = openLanes({ maxPerLane: 2, maxInAll: 10, maxWaitingPerLane: 50 });
    for (let i = 0; i < 20; i += 1) offer('hanging');
    for (let i = 0; i < 6; i += 1) offer('quick');
    lanes.pump();
    expect([of('hanging').length, of('quick').length]).toEqual([2, 2]);
    for (let done = 0; done < 6; done += 1) {
      of('quick')[0]?.end();
      await turn();
    }
    expect([of('hanging').length, of('quick').length]).toEqual([2, 0]);
  });

  test('lanes take turns when all places are in use', async () => {
    const { lanes, running, offer } = openLanes({
      maxPerLane: 3,
      maxInAll: 3,
      maxWaitingPerLane: 50,
    });
    for (let i = 0; i < 5; i += 1) offer('many');
    offer('one');
    offer('other');
    lanes.pump();
    expect(running.map(({ lane }) => lane)).toEqual(['many', 'one', 'other']);
  });

  test('for any order of offers and ends the bounds hold, and every job runs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'c', 'end'), { maxLength: 60 }),
        async (steps) => {
          const { lanes, running, of, offer } = openLanes({
            maxPerLane: 2,
            maxInAll: 4,
            maxWaitingPerLane: 5,
          });
          let [taken, ended] = [0, 0];
          for (const step of steps) {
            if (step === 'end') {
              if (running[0]) ended += 1;
              running[0]?.end();
            } else if (offer(step)) taken += 1;
            lanes.pump();
            await turn();
            expect(running.length).toBeLessThanOrEqual(4);
            for (const lane of ['a', 'b', 'c']) expect(of(lane).length).toBeLessThanOrEqual(2);
          }
          for (; running[0]; ended += 1) {
            running[0].end();
            await turn();
          }
          expect(ended).toBe(taken);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('a full lane refuses jobs, and jobs that wait when the lanes stop never run', async () => {
    const { lanes, running, offer } = openLanes({
      maxPerLane: 1,
      maxInAll: 1,
      maxWaitingPerLane: 2,
    });
    expect(['a', 'a', 'a'].map(offer)).toEqual([true, true, false]);
    lanes.pump();
    lanes.stop();
    running[0]?.end();
    await turn();
    offer('a');
    lanes.pump();
    expect(running).toEqual([]);
  });
});

test('an endpoint that fails repeatedly gets deliveries from workflows only, until one succeeds', () => {
  const health = createHealth();
  expect(health.mayTry('whe')).toBe(true);
  for (let i = 0; i < 3; i += 1) health.note('whe', false);
  expect([health.mayTry('whe'), health.mayTry('other')]).toEqual([false, true]);
  health.note('whe', true);
  expect(health.mayTry('whe')).toBe(true);
});
