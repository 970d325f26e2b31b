import { attemptReference } from '../../src/capabilities/charges/charge.js';
import { type ChargeFact } from '../../src/capabilities/charges/transitions.js';
import type { Posting } from '../../src/core/ledger/posting.js';
import { NOW } from '../support/transfers.js';
import {
  days,
  merchantCharge,
  noDebt,
  of,
  pageCharge,
  paid,
  refused,
  sent,
  transition,
} from '../support/charge-facts.js';

/** The legs of postings, by id. */
const legsOf = (postings: readonly Posting[]) =>
  Object.fromEntries(
    postings.map(({ id, legs }) => [id, legs.map((leg) => [leg.account, leg.amountMinor])]),
  );

const accepts = (amountMinor: bigint): ChargeFact => ({
  ...of('operator_confirmed'),
  kind: 'operator_confirmed',
  via: 'operator',
  attempt: null,
  amountMinor,
});

describe('a payment', () => {
  test('of a second attempt is booked in suspense, calls an operator, and is credited once', () => {
    const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
    const first = transition(second, paid({ attempt: 2 })).next;
    const { verdict, next, postings } = transition(first, paid({ attempt: 1 }));
    expect([verdict, next.status]).toEqual(['attention', 'completed']);
    expect(legsOf(postings)).toEqual({
      [`${next._id}/suspense-1`]: [
        ['clearing:sandbox-bank', -300_000n],
        ['suspense', 300_000n],
      ],
    });
    expect(attemptReference(next)).toBe(`${next._id}-2`);
    expect(transition(next, paid({ attempt: 1 })).verdict).toBe('unchanged');
  });

  test('of another amount is booked in suspense once, also of a charge that has failed', () => {
    const half = paid({ amountMinor: 150_000n });
    for (const charge of [
      sent(pageCharge()),
      transition(sent(pageCharge()), of('cancelled')).next,
    ]) {
      const first = transition(charge, half);
      expect(first).toMatchObject({ verdict: 'attention', availableMinor: 0n });
      expect(first.next).toMatchObject({ status: charge.status, attention: { since: NOW } });
      expect(legsOf(first.postings)).toEqual({
        [`${charge._id}/suspense-1`]: [
          ['clearing:sandbox-bank', -150_000n],
          ['suspense', 150_000n],
        ],
      });
      expect(transition(first.next, half).verdict).toBe('unchanged');
    }
  });

  test('that was returned from suspense is not booked again if its provider reports it once more', () => {
    const half = paid({ amountMinor: 150_000n });
    const suspended = transition(sent(pageCharge()), half).next;
    const returned = { ...suspended, suspended: [], returned_attempts: [1], attention: null };
    expect(transition(returned, half)).toMatchObject({ verdict: 'unchanged', postings: [] });
  });

  test('of another amount completes the charge with that amount once an operator accepts it', () => {
    const half = paid({ amountMinor: 150_000n, feeMinor: 2_250n });
    const suspended = transition(sent(pageCharge()), half).next;
    expect(transition(suspended, accepts(140_000n)).verdict).toBe('stale');
    const { next, postings, availableMinor, receivableMinor } = transition(
      suspended,
      accepts(150_000n),
      NOW,
      { ...noDebt, receivableMinor: 7_750n },
    );
    expect(next).toMatchObject({
      status: 'completed',
      settled_amount_minor: 150_000n,
      provider_fee_minor: 2_250n,
      suspended: [],
      attention: null,
    });
    expect([availableMinor, receivableMinor]).toEqual([140_000n, -7_750n]);
    expect(legsOf(postings)).toEqual({
      [`${next._id}/accept`]: [
        ['suspense', -150_000n],
        ['provider-fees', 2_250n],
        ['receivable:ten_a', 7_750n],
        ['wallet:ten_a:available', 140_000n],
      ],
    });
    expect(transition(next, half).verdict).toBe('unchanged');
    expect(transition(next, accepts(150_000n)).verdict).toBe('stale');
  });

  test('has the same books whether its fee is reported with it or later, and no repeat changes them', () => {
    const completed = transition(sent(pageCharge()), paid({ feeMinor: null }));
    expect(completed.availableMinor).toBe(300_000n);
    const later = transition(completed.next, paid(), NOW, { ...noDebt, availableMinor: 300_000n });
    expect(later).toMatchObject({ availableMinor: -14_500n, receivableMinor: 0n });
    expect(later.next.provider_fee_minor).toBe(14_500n);
    expect(legsOf(later.postings)).toEqual({
      [`${later.next._id}/fee`]: [
        ['provider-fees', 14_500n],
        ['wallet:ten_a:available', -14_500n],
      ],
    });
    expect(transition(later.next, paid()).verdict).toBe('unchanged');
    expect(transition(later.next, paid({ feeMinor: null })).verdict).toBe('unchanged');
    const another = transition(later.next, paid({ feeMinor: 9_000n }));
    expect([another.verdict, another.postings]).toEqual(['attention', []]);
  });

  test('with a later fee that the wallet does not cover is owed by the tenant', () => {
    const { next } = transition(sent(pageCharge()), paid({ feeMinor: null }));
    const later = transition(next, paid(), NOW, { ...noDebt, availableMinor: 4_500n });
    expect(later).toMatchObject({ availableMinor: -4_500n, receivableMinor: 10_000n });
  });
});
