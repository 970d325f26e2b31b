import { print, printLatest, printTable } from '../../../src/ops/cli/print.js';

function printed(work: () => void): string {
  const lines: string[] = [];
  const { log } = console;
  console.log = (line: string) => lines.push(line);
  try {
    work();
  } finally {
    console.log = log;
  }
  return lines.join('\n');
}

test('a printed table has a head and columns as wide as their widest cell, without trailing blanks', () => {
  const rows = [
    { id: 'trf_1', amount: 150_000n.toString(), reason: null },
    { id: 'trf_22', amount: '5', reason: 'ụlọ akụ 🏦' },
    { id: '', amount: '', reason: { code: 'x' } },
  ];
  expect(printed(() => printTable(false, rows))).toBe(
    [
      'id      amount  reason',
      'trf_1   150000  –',
      'trf_22  5       ụlọ akụ 🏦',
      '                {"code":"x"}',
    ].join('\n'),
  );
  expect(printed(() => printTable(true, rows))).toBe(JSON.stringify(rows));
  expect(printed(() => printTable(false, []))).toBe('none');
});

test('a printed record has a line for each field, and a text of several lines stays in its column', () => {
  const record = { id: 'trf_1', note: 'first\nsecond', status: 'failed' };
  expect(printed(() => print(false, record))).toBe(
    ['id      trf_1', 'note    first', '        second', 'status  failed'].join('\n'),
  );
});

test('a printed list has a currency beside its first amount, and an age for people', () => {
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1_000).toISOString();
  const [now, minutes, days] = [at(1), at(3 * 60 + 5), at(12 * 86_400 + 5)];
  const rows = [now, minutes, days].map((created_at) => ({ amount_minor: '5', created_at }));
  const table = printed(() => printLatest(false, rows, 100)).split('\n');
  expect(table[0]).toMatch(/^amount_minor  currency  created_at +age$/);
  expect(table[1]).toMatch(/^5 +NGN +\S+Z  [12]s$/);
  expect(table.slice(2).map((line) => line.split('  ').at(-1))).toEqual(['3m', '12d']);
  const json = JSON.parse(printed(() => printLatest(true, rows, 100))) as object[];
  expect(json[0]).toEqual({ amount_minor: '5', currency: 'NGN', created_at: now });
});
