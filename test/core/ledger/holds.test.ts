import type { HoldStep } from '../../../src/core/instructions/held-instruction.js';
import {
  accounts,
  type Posting,
  holdPosting,
  moveHoldBy,
  type Hold,
} from '../../../src/core/ledger/posting.js';

const AT = new Date(0);
const TENANT = 'ten_a';
const clearing = (amountMinor: bigint) => ({
  account: accounts.clearing('bank'),
  amountMinor,
});

const base = { id: 'trf_1', tenantId: TENANT, heldAt: AT, provider: 'bank', amountMinor: 100n };
const holds: Record<string, Hold> = {
  'with a fee': {
    ...base,
    captured: [clearing(100n), { account: accounts.fees, amountMinor: 7n }],
  },
  'without a fee': { ...base, captured: [clearing(100n)] },
  'settled with less': {
    ...base,
    settledMinor: 60n,
    captured: [clearing(100n), { account: accounts.fees, amountMinor: 7n }],
  },
  'settled with more': {
    ...base,
    settledMinor: 130n,
    captured: [clearing(100n), { account: accounts.fees, amountMinor: 7n }],
  },
  'for a card': {
    ...base,
    captured: [{ account: accounts.cardAvailable('crd_1'), amountMinor: 100n }],
  },
};

/** The sequences of movements that the state machine can make of one hold. */
const LIVES: HoldStep[][] = [
  [],
  ['capture'],
  ['capture', 'reversal'],
  ['release'],
  ['release', 'suspense'],
  ['release', 'suspense', 'suspense-reversal'],
  ['release', 'suspense', 'suspense-debit'],
  ['release', 'suspense', 'suspense-debit', 'reversal'],
];

const movedOn = (account: string, postings: readonly Posting[]) =>
  postings
    .flatMap(({ legs }) => legs)
    .filter((leg) => leg.account === account)
    .reduce((sum, leg) => sum + leg.amountMinor, 0n);

const cases = Object.keys(holds).flatMap((name) =>
  LIVES.flatMap((life) =>
    [0n, 30n, 500n].flatMap((availableMinor) =>
      [0n, 40n, 900n].map((receivableMinor) => ({ name, life, availableMinor, receivableMinor })),
    ),
  ),
);

test.each(cases)(
  'a hold $name moves by $life with $availableMinor available and $receivableMinor owed: the changes of the wallet are those of its postings',
  ({ name, life, availableMinor, receivableMinor }) => {
    const hold = holds[name] as Hold;
    const moved = moveHoldBy(hold, life, AT, { availableMinor, receivableMinor });
    expect(movedOn(accounts.available(TENANT), moved.postings)).toBe(moved.availableMinor);
    expect(movedOn(accounts.receivable(TENANT), moved.postings)).toBe(-moved.receivableMinor);
    expect(availableMinor + moved.availableMinor).toBeGreaterThanOrEqual(0n);
    expect(receivableMinor + moved.receivableMinor).toBeGreaterThanOrEqual(0n);
    const all = [holdPosting(hold), ...moved.postings];
    expect(movedOn(accounts.held(TENANT), all)).toBe(
      life.length === 0 ? hold.captured.reduce((sum, leg) => sum + leg.amountMinor, 0n) : 0n,
    );
    const settled = hold.settledMinor ?? 100n;
    const isSettled = life.at(-1) === 'capture' || life.at(-1) === 'suspense-debit';
    const surplus = settled > 100n ? 100n - settled : 0n;
    const inSuspense = life.at(-1) === 'suspense' ? -settled : isSettled ? surplus : 0n;
    expect(movedOn(accounts.suspense, all)).toBe(inSuspense);
    if (isSettled && hold.captured[0]?.account === accounts.clearing('bank')) {
      expect(movedOn(accounts.clearing('bank'), all)).toBe(settled);
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  },
);

test('a capture and a release of one hold have the same posting id, so that only one of them can be committed', () => {
  const hold = holds['with a fee'] as Hold;
  const wallet = { availableMinor: 0n, receivableMinor: 0n };
  const [captured] = moveHoldBy(hold, ['capture'], AT, wallet).postings;
  const [released] = moveHoldBy(hold, ['release'], AT, wallet).postings;
  expect(captured?.id).toBe(released?.id);
});
