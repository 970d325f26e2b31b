import {
  judge,
  unionOfRows,
  type Moved,
  type Movement,
} from '../../../src/core/reconciliation/judgement.js';

const DAY = '2026-11-20';
const PERIOD = {
  from: new Date(`${DAY}T00:00:00Z`),
  to: new Date(`${DAY}T23:59:59Z`),
  slackMs: 3_600_000,
};
const time = (at: string) => new Date(at.length === 5 ? `${DAY}T${at}:00Z` : at);
const row = (amount: number, at = '12:00', fee: number | null = null, run = 'one'): Moved => ({
  amountMinor: BigInt(amount),
  feeMinor: fee === null ? null : BigInt(fee),
  at: time(at),
  run,
  precisionMs: 60_000,
});
const dated = (amount: number, day: string, run = 'dates'): Moved => ({
  ...row(amount, `${day}T00:00:00+01:00`, null, run),
  precisionMs: 26 * 3_600_000,
});
const moved = (amount: number, at = '12:00', fee = 0): Movement => ({
  amountMinor: BigInt(amount),
  feeMinor: BigInt(fee),
  at: time(at),
});

test.each<[string, Moved[], Movement[], string | null]>([
  ['equal amounts', [row(-500)], [moved(-500)], null],
  [
    'a payment and its reversal on both sides',
    [row(-500), row(500)],
    [moved(-500), moved(500)],
    null,
  ],
  ['a payment that the provider took back, and we released', [row(-500), row(500)], [], null],
  ['a row of an open record', [row(-500)], [], 'other_state 500'],
  ['another amount', [row(-501)], [moved(-500)], 'other_amount 1'],
  ['the other direction', [row(500)], [moved(-500)], 'other_amount 1000'],
  ['a row that is there twice', [row(-500), row(-500)], [moved(-500)], 'duplicate 500'],
  [
    'a reversal that only the provider has',
    [row(-500), row(500)],
    [moved(-500)],
    'other_state 500',
  ],
  [
    'a reversal that only we have',
    [row(-500)],
    [moved(-500, '11:00'), moved(500, '15:00')],
    'other_state 500',
  ],
  [
    'a reversal of ours at the end of the period, which the next statement has',
    [row(-500)],
    [moved(-500, '11:00'), moved(500, '23:30')],
    null,
  ],
  [
    'a payment from before the period, with its reversal in it',
    [row(500)],
    [moved(-500, '2026-11-18T10:00:00Z'), moved(500, '15:00')],
    null,
  ],
  ['the same fee', [row(900, '12:00', 9)], [moved(900, '12:00', 9)], null],
  [
    'another fee of money that came in',
    [row(900, '12:00', 10)],
    [moved(900, '12:00', 9)],
    'fee_differs 1',
  ],
  ['the price of a payout, which we do not book', [row(-900, '12:00', 10)], [moved(-900)], null],
  ['a statement without fees', [row(900)], [moved(900, '12:00', 9)], null],
])('%s', (_, rows, movements, expected) => {
  const found = judge({ rows, movements, isKnown: true }, PERIOD);
  expect(found && `${found.kind} ${found.amountMinor}`).toBe(expected);
});

test('money without a record is missing here', () => {
  const sides = { rows: [row(-500)], movements: [], isKnown: false };
  expect(judge(sides, PERIOD)).toMatchObject({ kind: 'missing_here', amountMinor: 500n });
});

test('a row that two statements have counts once, and one that a statement has twice counts twice', () => {
  const rows = [row(-500), row(-500, '12:00', null, 'two'), row(500, '15:00', null, 'two')];
  expect(unionOfRows(rows).map(({ amountMinor }) => amountMinor)).toEqual([-500n, 500n]);
  const twice = [row(-500), row(-500), row(-500, '12:00', null, 'two')];
  expect(unionOfRows(twice)).toHaveLength(2);
});

test('a row that two statements write with another precision counts once, and one of another hour is another', () => {
  const later = { ...row(-500, '12:00', null, 'two'), at: new Date(`${DAY}T12:00:59Z`) };
  expect(unionOfRows([row(-500), later])).toHaveLength(1);
  expect(unionOfRows([row(-500), row(-500, '13:00', null, 'two')])).toHaveLength(2);
});

test('equal rows of two days are two, in statements with dates alone and in ones that meet at midnight', () => {
  const days = [dated(-500, DAY), dated(-500, '2026-11-21', 'next')];
  expect(unionOfRows(days)).toHaveLength(2);
  expect(unionOfRows([dated(-500, DAY), dated(-500, DAY, 'next')])).toHaveLength(1);
  const midnight = time('2026-11-21T00:00:00Z');
  const before = { ...row(-500, `${DAY}T23:59:40Z`), span: { from: null, to: midnight } };
  const after = row(-500, '2026-11-21T00:00:10Z', null, 'two');
  expect(unionOfRows([before, after])).toHaveLength(2);
  expect(unionOfRows([{ ...before, span: { from: null, to: null } }, after])).toHaveLength(1);
});

test('a row of a statement with dates alone is the one with a time on its day, and hides no second payment', () => {
  const late = row(-500, '22:30');
  const both = [dated(-500, DAY), late];
  expect(unionOfRows(both)).toEqual([late]);
  const sides = { rows: unionOfRows(both), movements: [moved(-500, '22:29')], isKnown: true };
  expect(judge(sides, PERIOD)).toBeNull();
  // Paid again the next morning: the two with times are two, and each of the others is one of them.
  const again = row(-500, '2026-11-21T08:00:00Z', null, 'two');
  expect(unionOfRows([dated(-500, '2026-11-21'), dated(-500, DAY), late, again])).toEqual([
    late,
    again,
  ]);
  expect(unionOfRows([dated(-500, '2026-11-23'), late])).toHaveLength(2);
});
