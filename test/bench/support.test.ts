import { closedLoop, median, percentile, ratioOf } from '../../bench/support.js';

describe('the arithmetic of benchmarks', () => {
  it('benchmarks compute medians and percentiles of unsorted values', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(percentile([5, 1, 4, 2, 3], 50)).toBe(3);
    expect(percentile([5, 1, 4, 2, 3], 99)).toBe(5);
    expect(median([])).toBeNaN();
  });

  it('benchmarks compare only runs of the same round', () => {
    expect(ratioOf([10, 30, 60], [10, 10, 10])).toEqual({ median: 3, least: 1, most: 6 });
  });

  it('a benchmark waits for every request that its clients have begun, and counts it', async () => {
    let under = 0;
    let most = 0;
    const loop = await closedLoop({
      clients: 3,
      forMs: 50,
      async act() {
        most = Math.max(most, (under += 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
        under -= 1;
      },
    });
    expect(under).toBe(0);
    expect(most).toBe(3);
    expect(loop.completed).toBeGreaterThanOrEqual(3);
  });
});
