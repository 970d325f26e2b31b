import fc from 'fast-check';
import { accounts } from '../../src/core/ledger/posting.js';
import type { TransferFact } from '../../src/capabilities/transfers/transitions.js';
import {
  after,
  confirmed,
  paid,
  problemsOf,
  rejected,
  reversed,
} from '../support/transfer-facts.js';
import { NOW } from '../support/transfers.js';

describe('a report that contradicts what is booked', () => {
  const asked = (fact: TransferFact): TransferFact => ({
    ...fact,
    via: 'poll',
    askedMs: NOW.getTime() + 1,
  });
  const paidOther = (amountMinor: bigint): TransferFact => ({ ...paid, amountMinor });
  const reversedOther: TransferFact = { ...reversed, amountMinor: 249_000n };
  const accepted = (amountMinor: bigint): TransferFact => ({
    ...confirmed,
    via: 'operator',
    amountMinor,
    sessionId: 's1',
  });
  const forced: TransferFact = { ...rejected, via: 'operator', code: 'operator' };

  test.each([
    [249_000n, 1_000n],
    [260_000n, 0n],
  ])(
    'paid, then %d: an operator accepts the amount, once, and the difference moves',
    (amount, back) => {
      const facts = [paid, paidOther(amount), accepted(amount), accepted(amount)];
      const once = after(facts);
      expect(once.verdicts).toEqual(['applied', 'attention', 'applied', 'unchanged']);
      expect(once.transfer).toMatchObject({
        status: 'completed',
        attention: null,
        settled_amount_minor: amount,
      });
      expect([once.postings, once.gained]).toEqual([['resolve', 'adjustment-1'], back]);
      expect(problemsOf(once)).toEqual([]);
      const again = after([...facts, paid, accepted(250_000n)]);
      expect([again.gained, again.transfer.settled_amount_minor]).toEqual([0n, null]);
      expect(again.postings).toEqual(['resolve', 'adjustment-1', 'adjustment-2']);
      expect(problemsOf(again)).toEqual([]);
      const taken = after([...facts, { ...reversed, amountMinor: amount }]);
      expect([taken.gained, taken.transfer.reversed_at]).toEqual([251_000n, NOW]);
      expect(problemsOf(taken)).toEqual([]);
    },
  );

  test('what a wallet lacks for a larger amount is owed', () => {
    const facts = [paidOther(249_000n), accepted(249_000n), paid];
    const poor = after([...facts, accepted(250_000n)], -1_000n);
    expect([poor.gained, poor.owed]).toEqual([1_000n, 1_000n]);
    expect(poor.transfer.attention?.reason).toMatch(/could not cover/);
    expect(problemsOf(poor)).toEqual([]);
  });

  test.each([
    [0n, 0n],
    [-1n, 1n],
  ])(
    'a plain confirmation from suspense asks of the wallet the amount that was accepted, not the requested one: with %d kobo more than that, %d is owed',
    (more, owed) => {
      // An operator has accepted 249,000 of 250,000, and taken that back: the wallet has got 251,000.
      const facts = [
        paidOther(249_000n),
        accepted(249_000n),
        rejected,
        forced,
        paidOther(249_000n),
      ];
      const start = 250_000n - 251_000n + more;
      expect(after(facts, start)).toMatchObject({ gained: 251_000n, owed: 0n });
      const all = after([...facts, confirmed], start);
      expect(all.transfer).toMatchObject({ status: 'completed', settled_amount_minor: 249_000n });
      expect([all.owed, all.transfer.attention === null]).toEqual([owed, owed === 0n]);
      expect(problemsOf(all)).toEqual([]);
    },
  );

  test('an acceptance that is repeated after the next report of the bank changes nothing', () => {
    const accept = [paid, paidOther(249_000n), accepted(249_000n)];
    const takenBack: TransferFact = { ...reversed, amountMinor: 249_000n };
    for (const next of [paid, paidOther(260_000n), takenBack]) {
      expect(after([...accept, next, accepted(249_000n)]).verdicts.at(-1)).toBe('stale');
    }
    expect(after([paid, accepted(249_000n)]).verdicts.at(-1)).toBe('stale');
  });

  test('a plain confirmation does not end the call for another amount', () => {
    for (const facts of [
      [paid, paidOther(249_000n)],
      [rejected, paid, paidOther(249_000n)],
    ]) {
      expect(after([...facts, confirmed]).verdicts.at(-1)).toBe('stale');
    }
  });

  test('paid, then rejected: a forced fail returns amount and fee, once', () => {
    const { transfer, verdicts, postings, gained, made } = after([
      paid,
      rejected,
      forced,
      forced,
      asked(rejected),
    ]);
    expect(verdicts).toEqual(['applied', 'attention', 'applied', 'stale', 'applied']);
    expect(transfer).toMatchObject({
      status: 'failed',
      failure: { code: 'operator' },
      attention: null,
      monitor_until: null,
      next_check_at: null,
    });
    expect([postings, gained]).toEqual([['resolve', 'return-1'], 251_000n]);
    expect(problemsOf({ transfer, made })).toEqual([]);
  });

  test('a forced fail of a completed transfer that the bank has not denied changes nothing', () => {
    for (const facts of [[paid], [paid, paidOther(249_000n)]]) {
      expect(after([...facts, forced, forced])).toMatchObject({
        postings: ['resolve'],
        transfer: { status: 'completed' },
      });
    }
  });

  test('paid, rejected, failed by force, and paid after all: in suspense, and so on for ever', () => {
    const round = [rejected, forced, paid, confirmed];
    const many = after([paid, ...round, ...round, ...round]);
    expect(many.transfer).toMatchObject({ status: 'completed', attention: null });
    expect(many.gained).toBe(0n);
    expect(new Set(many.postings).size).toBe(many.postings.length);
    expect(problemsOf(many)).toEqual([]);
  });

  test.each([
    ['open', [], ['resolve']],
    ['completed', [paid], ['resolve', 'return-1']],
    ['in suspense', [rejected, paid], ['resolve', 'suspense', 'return-1']],
  ] as const)(
    'reversed with another amount while it is %s: a forced fail takes back what is booked',
    (_, before, expected) => {
      const facts = [...before, reversedOther, forced];
      const failed = after(facts);
      expect(failed.verdicts.at(-2)).toBe('attention');
      expect(failed.transfer).toMatchObject({ status: 'failed', attention: null });
      expect([failed.postings, failed.gained]).toEqual([expected, 251_000n]);
      expect(problemsOf(failed)).toEqual([]);
      // The next report of the bank ends the monitoring, and is no contradiction.
      const monitored = after([...facts, asked(reversedOther), reversedOther]);
      expect(monitored.verdicts.slice(-2)).toEqual(['applied', 'unchanged']);
      expect(monitored.transfer).toMatchObject({ attention: null, next_check_at: null });
      expect(monitored.gained).toBe(251_000n);
    },
  );

  test('reversed with another amount in suspense, failed by force, paid and reversed after all: each posting has an id of its own', () => {
    const { transfer, postings, made } = after([
      rejected,
      paid,
      reversedOther,
      forced,
      paid,
      reversed,
    ]);
    expect(postings.slice(2)).toEqual(['return-1', 'suspense-1', 'suspense-reversal-1']);
    expect(problemsOf({ transfer, made })).toEqual([]);
  });

  test('in suspense, then rejected: a forced fail takes it out of suspense, unless it was paid again meanwhile', () => {
    const denied = after([rejected, paid, asked(rejected), forced]);
    expect(denied.transfer).toMatchObject({ in_suspense: false, attention: null });
    expect(problemsOf(denied)).toEqual([]);
    const repeated = after([rejected, paid, asked(rejected), forced, paid, forced]);
    expect(repeated.transfer).toMatchObject({ in_suspense: true });
    expect(problemsOf(repeated)).toEqual([]);
  });

  test('in suspense, or reversed, then paid with another amount: an operator accepts it', () => {
    for (const facts of [
      [rejected, paid],
      [paid, reversed],
      [rejected, paid, reversed],
    ]) {
      const all = after([...facts, paidOther(249_000n), accepted(249_000n)]);
      expect(all.transfer).toMatchObject({
        status: 'completed',
        in_suspense: false,
        reversed_at: null,
        settled_amount_minor: 249_000n,
      });
      expect(all.gained).toBe(1_000n);
      expect(problemsOf(all)).toEqual([]);
    }
  });

  test('ends its call if the bank, when it is asked, agrees with what is booked again; a message of it may be older', () => {
    for (const contradiction of [rejected, paidOther(249_000n), reversedOther]) {
      const facts = [paid, contradiction];
      expect(after([...facts, asked(paid)]).transfer.attention).toBeNull();
      expect(after([...facts, { ...paid, via: 'webhook' }]).transfer.attention).not.toBeNull();
    }
    expect(after([rejected, paidOther(249_000n), asked(rejected)]).transfer.attention).toBeNull();
    expect(
      after([paid, reversed, paidOther(249_000n), asked(reversed)]).transfer.attention,
    ).toBeNull();
    // In suspense, an operator is called for that again, and `complete` takes it out.
    const inSuspense = after([rejected, paid, paidOther(249_000n), asked(paid)]);
    expect(inSuspense.transfer).toMatchObject({
      in_suspense: true,
      attention: { reason: expect.stringContaining('after the hold had been released') },
    });
    const all = after([rejected, paid, paidOther(249_000n), asked(paid), confirmed], 300_000n);
    expect(all.transfer).toMatchObject({ status: 'completed', attention: null });
    // Then a forced fail has nothing to take back.
    const denied = after([rejected, paid, asked(rejected), asked(paid), forced]);
    expect(denied.transfer.in_suspense).toBe(true);
  });

  test('an answer to a question from before the contradiction ends no call', () => {
    for (const [before, agrees] of [
      [[paid, rejected], paid],
      [[paid, reversed, paidOther(249_000n)], reversed],
      [[rejected, paidOther(249_000n)], rejected],
    ] as const) {
      const old: TransferFact = { ...agrees, via: 'poll', askedMs: NOW.getTime() - 1 };
      expect(after([...before, old]).transfer.attention).not.toBeNull();
      expect(after([...before, { ...agrees, via: 'poll' }]).transfer.attention).not.toBeNull();
    }
  });

  test('a forced fail without a denial by the bank takes nothing back', () => {
    const silent: TransferFact = { ...forced, ifNotSubmitted: true };
    const all = after([paid, rejected, silent]);
    expect(all.verdicts.at(-1)).toBe('stale');
    expect(all.transfer).toMatchObject({ status: 'completed' });
    expect(all.postings).toEqual(['resolve']);
  });

  test('a reversal of another amount than was released calls an operator unless one had failed the transfer', () => {
    expect(after([rejected, reversedOther]).transfer).toMatchObject({
      reversed_at: null,
      attention: { reason: expect.stringContaining('another amount') },
    });
    expect(after([forced, reversedOther]).transfer).toMatchObject({ attention: null });
  });

  test('a repeated acceptance leaves the call for what the wallet owes', () => {
    // The tenant has spent what was released.
    const facts = [rejected, paid, paidOther(249_000n), accepted(249_000n)];
    const reason = expect.stringContaining('could not cover') as string;
    expect(after(facts, -251_000n).transfer.attention).toMatchObject({ reason });
    const again = after([...facts, accepted(249_000n)], -251_000n);
    expect(again.verdicts.at(-1)).toBe('unchanged');
    expect(again.transfer.attention).toMatchObject({ reason });
  });

  test('the day gets back no more than it lost', () => {
    const dayOf = (facts: TransferFact[]) => after(facts, 300_000n).day;
    expect(dayOf([rejected])).toBe(250_000n);
    expect(dayOf([rejected, paid, confirmed])).toBe(0n);
    expect(dayOf([rejected, paid, confirmed, rejected, forced])).toBe(250_000n);
    expect(dayOf([paid, reversed, paidOther(249_000n), accepted(249_000n)])).toBe(1_000n);
  });

  test('whatever the bank and operators say in whatever order, the books are those of the state', () => {
    const amounts = [249_000n, 250_000n, 260_000n];
    const fact = fc.oneof(
      ...[rejected, asked(rejected), forced, confirmed, asked(paid)].map((each) =>
        fc.constant(each),
      ),
      ...[
        paidOther,
        accepted,
        (amountMinor: bigint): TransferFact => ({ ...reversed, amountMinor }),
      ].map((make) => fc.constantFrom(...amounts).map((amount) => make(amount))),
    );
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 20 }), fc.bigInt(0n, 300_000n), (facts, balance) => {
        const all = after(facts, balance);
        const ids = all.made.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const moved = (account: string) =>
          all.made
            .flatMap(({ legs }) => legs)
            .filter((leg) => leg.account === account)
            .reduce((sum, leg) => sum + leg.amountMinor, 0n);
        const { tenant_id: tenant } = all.transfer;
        expect(moved(accounts.available(tenant))).toBe(all.gained - 251_000n);
        expect(moved(accounts.receivable(tenant))).toBe(-all.owed);
        expect(all.owed).toBeGreaterThanOrEqual(0n);
        expect(problemsOf(all)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
