import {
  accepts,
  noDebt,
  of,
  pageCharge,
  paid,
  sent,
  sumsOf,
  transition,
} from '../support/charge-facts.js';
import { NOW } from '../support/transfers.js';

describe('a payment with a fee above its amount', () => {
  const costly = paid({ feeMinor: 310_000n });

  test('is booked in suspense with its fee, once, also of a charge that has failed', () => {
    for (const charge of [
      sent(pageCharge()),
      transition(sent(pageCharge()), of('cancelled')).next,
    ]) {
      const { next, postings, verdict, availableMinor } = transition(charge, costly);
      expect([verdict, next.status, availableMinor]).toEqual(['attention', charge.status, 0n]);
      expect(next.attention?.reason).toContain('below zero or above the amount');
      expect(sumsOf(...postings)).toEqual({
        'clearing:sandbox-bank': -300_000n,
        suspense: 300_000n,
        fees: -310_000n,
        'provider-fees:sandbox-bank': 310_000n,
      });
      expect(transition(next, costly)).toMatchObject({ verdict: 'unchanged', postings: [] });
      const withoutFee = transition(next, paid({ feeMinor: null }));
      expect(withoutFee).toMatchObject({ verdict: 'unchanged', postings: [] });
    }
  });

  test('is paid by the wallet, and the rest owed, once an operator accepts it', () => {
    const { next: suspended, postings: before } = transition(sent(pageCharge()), costly);
    const wallet = { ...noDebt, availableMinor: 4_000n };
    const { next, postings, ...moved } = transition(suspended, accepts(300_000n), NOW, wallet);
    expect(moved).toMatchObject({ availableMinor: -4_000n, receivableMinor: 6_000n });
    expect(next).toMatchObject({
      status: 'completed',
      settled_amount_minor: null,
      provider_fee_minor: 310_000n,
      suspended: [],
      suspense_fees: [],
      attention: null,
    });
    expect(sumsOf(...before, ...postings)).toEqual({
      'clearing:sandbox-bank': -300_000n,
      'provider-fees:sandbox-bank': 310_000n,
      'wallet:ten_a:available': -4_000n,
      'receivable:ten_a': -6_000n,
    });
    expect(transition(next, costly).verdict).toBe('unchanged');
  });

  test('is credited if its provider corrects the fee, and not booked again after its return', () => {
    const first = transition(sent(pageCharge()), costly);
    const { next, postings } = transition(first.next, paid());
    expect(next).toMatchObject({ status: 'completed', attention: null, suspense_fees: [] });
    expect(sumsOf(...first.postings, ...postings)).toEqual({
      'clearing:sandbox-bank': -300_000n,
      'provider-fees:sandbox-bank': 14_500n,
      'wallet:ten_a:available': 285_500n,
    });
    const returned = { ...first.next, suspended: [], returned_attempts: [1], attention: null };
    expect(transition(returned, costly)).toMatchObject({ verdict: 'unchanged', postings: [] });
  });

  test('of a second attempt is in suspense with its fee', () => {
    const completed = transition(sent(pageCharge()), paid()).next;
    const second = transition(completed, paid({ attempt: 2, feeMinor: 310_000n }));
    expect(sumsOf(...second.postings)).toMatchObject({ suspense: 300_000n, fees: -310_000n });
  });

  test('that is known later is paid by the wallet, and calls an operator', () => {
    const { next } = transition(sent(pageCharge()), paid({ feeMinor: null }));
    const wallet = { ...noDebt, availableMinor: 300_000n };
    const later = transition(next, costly, NOW, wallet);
    expect(later).toMatchObject({
      verdict: 'attention',
      availableMinor: -300_000n,
      receivableMinor: 10_000n,
    });
    expect(later.next.attention?.reason).toContain('above the amount');
    expect(transition(later.next, costly).verdict).toBe('unchanged');
  });
});

test('a payment with a fee below zero is in suspense without it, until the fee is known', () => {
  const negative = paid({ feeMinor: -1n });
  const { next, postings } = transition(sent(pageCharge()), negative);
  expect(sumsOf(...postings)).toEqual({ 'clearing:sandbox-bank': -300_000n, suspense: 300_000n });
  expect(transition(next, negative).verdict).toBe('unchanged');
  expect(transition(next, paid()).next).toMatchObject({ status: 'completed', suspended: [] });
  const completed = transition(sent(pageCharge()), paid({ feeMinor: null })).next;
  expect(transition(completed, negative)).toMatchObject({ verdict: 'attention', postings: [] });
});
