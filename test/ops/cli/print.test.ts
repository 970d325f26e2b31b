import { print, printTable } from '../../../src/ops/cli/print.js';

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

test('a table has a head and columns as wide as their widest cell, without blanks at the end', () => {
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

test('one record is a line for each field; a text of several lines stays in its column', () => {
  const record = { id: 'trf_1', note: 'first\nsecond', status: 'failed' };
  expect(printed(() => print(false, record))).toBe(
    ['id      trf_1', 'note    first', '        second', 'status  failed'].join('\n'),
  );
});
