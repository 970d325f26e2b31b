import { goalRow, markdownTable } from '../../bench/report.js';

const measured = { median: 0.95, least: 0.8, most: 1.1 };

describe('the table of goals', () => {
  it('a ratio below its lower bound is missed, and one at the bound is met', () => {
    const row = (least: number) => goalRow({ what: 'ours / theirs', measured, goal: { least } });
    expect(row(1)).toEqual(['ours / theirs', '≥ 1×', '0.95×', '0.80 to 1.10', 'MISSED']);
    expect(row(0.95).at(-1)).toBe('met');
  });

  it('a time above its upper bound is missed, and has its unit', () => {
    const times = { median: 1_234.4, least: 900, most: 2_000 };
    const row = goalRow({ what: 'start', measured: times, unit: 'ms', goal: { most: 1_000 } });
    expect(row).toEqual(['start', '≤ 1,000 ms', '1,234 ms', '900 to 2,000', 'MISSED']);
  });

  it('a figure without a goal has no verdict', () => {
    expect(goalRow({ what: 'shown', measured, goal: null }).slice(1)).toEqual([
      '',
      '0.95×',
      '0.80 to 1.10',
      '',
    ]);
  });

  it('a table is aligned Markdown', () => {
    expect(markdownTable(['a', 'bench'], [['x', '1']])).toBe(
      ['| a   | bench |', '| --- | ----- |', '| x   | 1     |'].join('\n'),
    );
  });
});
