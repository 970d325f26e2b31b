import {
  aboutAttempt,
  attemptReference,
  type Charge,
} from '../../src/capabilities/charges/record.js';
import { type ChargeFact } from '../../src/capabilities/charges/facts.js';
import type { Posting } from '../../src/core/ledger/posting.js';
import { NOW } from '../support/transfers.js';
import {
  accepts,
  days,
  merchantCharge,
  noDebt,
  of,
  pageCharge,
  paid,
  refused,
  sent,
  sumsOf,
  transition,
} from '../support/charge-facts.js';

const half = paid({ amountMinor: 150_000n, feeMinor: null });
/** The payment of the requested amount with the provider's surcharge, which a report may have in one sum. */
const SURCHARGE = 102_830n;
const whole = paid({ surchargeMinor: SURCHARGE });
const gross = (changes: object = {}) =>
  paid({ amountMinor: 300_000n + SURCHARGE, feeMinor: null, ...changes });

/** The legs of postings, by id. */
const legsOf = (postings: readonly Posting[]) =>
  Object.fromEntries(
    postings.map(({ id, legs }) => [id, legs.map((leg) => [leg.account, leg.amountMinor])]),
  );

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
        ['fees', -14_500n],
        ['provider-fees:sandbox-bank', 14_500n],
      ],
    });
    expect(next.suspense_fees).toEqual([{ attempt: 1, fee_minor: 14_500n }]);
    expect(attemptReference(next)).toBe(`${next._id}-2`);
    expect(transition(next, paid({ attempt: 1 })).verdict).toBe('unchanged');
  });

  test('of another amount is booked in suspense once, also of a charge that has failed', () => {
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
        ['fees', 2_250n],
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
        ['provider-fees:sandbox-bank', 14_500n],
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

describe('a payment whose provider corrects its amount', () => {
  test('leaves suspense and is credited once', () => {
    const first = transition(sent(pageCharge()), gross());
    const { next, postings, verdict } = transition(first.next, whole);
    expect([verdict, next.status, next.attention]).toEqual(['applied', 'completed', null]);
    expect(next).toMatchObject({ suspended: [], surcharge_minor: SURCHARGE });
    expect(sumsOf(...first.postings, ...postings)).toEqual({
      'clearing:sandbox-bank': -300_000n,
      'provider-fees:sandbox-bank': 14_500n,
      'wallet:ten_a:available': 285_500n,
    });
    for (const repeat of [gross(), whole]) {
      expect(transition(next, repeat)).toMatchObject({ verdict: 'unchanged', postings: [] });
    }
    expect(transition(next, accepts(300_000n + SURCHARGE)).verdict).toBe('stale');
  });

  test('gives back the fee that was booked in suspense', () => {
    const first = transition(sent(pageCharge()), gross({ feeMinor: SURCHARGE + 14_500n }));
    expect(sumsOf(...first.postings)).toMatchObject({ fees: -SURCHARGE - 14_500n });
    const { next, postings } = transition(first.next, whole);
    expect(next.suspense_fees).toEqual([]);
    expect(sumsOf(...first.postings, ...postings)).toEqual({
      'clearing:sandbox-bank': -300_000n,
      'provider-fees:sandbox-bank': 14_500n,
      'wallet:ten_a:available': 285_500n,
    });
  });

  test('is booked once if the report with the surcharge in its amount comes last, which may bring the fee', () => {
    const { next } = transition(sent(pageCharge()), paid({ ...whole, feeMinor: null }));
    const fee = 14_500n;
    const later = transition(next, gross({ feeMinor: SURCHARGE + fee }));
    expect(sumsOf(...later.postings)).toEqual({
      'provider-fees:sandbox-bank': fee,
      'receivable:ten_a': -fee,
    });
    expect(later.next).toMatchObject({ provider_fee_minor: fee, attention: null });
    expect(transition(later.next, gross({ feeMinor: SURCHARGE + fee })).verdict).toBe('unchanged');
  });

  const suspended = transition(sent(pageCharge()), gross()).next;
  const [payment] = suspended.suspended;

  const returned: [how: string, changes: object][] = [
    ['is being returned', { suspended: [{ ...payment, returning: 'ref_1' }], attention: null }],
    ['was returned', { suspended: [], returned_attempts: [1], attention: null }],
    ['was returned in part', { returned_refunds: ['ref_1'] }],
  ];

  test.each(returned)('moves no money and calls an operator, once, if it %s', (_how, changes) => {
    const charge = { ...suspended, ...changes } as Charge;
    const { verdict, next, postings, availableMinor } = transition(charge, whole);
    expect([verdict, postings, availableMinor]).toEqual(['attention', [], 0n]);
    expect(next).toMatchObject({ status: charge.status, suspended: charge.suspended });
    expect(next.attention?.reason).toContain('returned from suspense');
    expect(transition(next, whole).verdict).toBe('unchanged');
  });

  test.each(returned)('calls the operator until one ends it, if it %s', (_how, changes) => {
    const { next } = transition({ ...suspended, ...changes }, whole);
    const second: Charge = { ...next, attempt: 2, capture_mode: 'merchant_initiated' };
    const ends: [Charge, ChargeFact][] = [
      [next, refused({ code: 'payment_returned', decline: 'hard' })],
      [second, paid({ attempt: 2 })],
      [second, refused({ attempt: 2 })],
    ];
    for (const [charge, fact] of ends) {
      const ended = transition(charge, fact).next;
      expect(ended.status).not.toBe(charge.status);
      expect(ended.attention).toEqual(next.attention);
      expect(ended.next_check_at).not.toBeNull();
    }
    const failed = transition(next, refused({ via: 'operator', actor: 'ada', decline: 'hard' }));
    expect(failed.next).toMatchObject({ status: 'failed', attention: null });
  });

  test('to another one than the requested calls an operator', () => {
    const { verdict, next, postings } = transition(suspended, half);
    expect([verdict, postings]).toEqual(['attention', []]);
    expect(next.suspended).toEqual(suspended.suspended);
    expect(next.attention?.reason).toContain('in suspense');
  });
});

describe('attention for a payment in suspense stays until somebody decides about it', () => {
  const onPage = transition(sent(pageCharge()), half).next;
  const withSecond = sent(transition(sent(merchantCharge()), refused()).next, days(1));
  const ofFirst = transition(withSecond, half).next;

  test.each<[what: string, charge: Charge, fact: ChargeFact]>([
    [
      'its tenant cancels the charge',
      { ...onPage, next_action: { type: 'redirect', url: 'https://pages.example' } },
      { ...of('cancelled'), kind: 'cancel_requested', attempt: null, endsHere: true },
    ],
    ['its page is cancelled', onPage, of('cancelled')],
    ['another attempt is paid', ofFirst, paid({ attempt: 2 })],
    ['another attempt is declined for good', ofFirst, refused({ attempt: 2, decline: 'hard' })],
    ['another attempt is declined for now', ofFirst, refused({ attempt: 2 })],
  ])('if %s', (_what, charge, fact) => {
    const { next, verdict } = transition(charge, fact);
    expect([verdict, next.status]).not.toEqual(['applied', charge.status]);
    expect(next.attention).toEqual(charge.attention);
    expect(next.attention).not.toBeNull();
    expect(next.next_check_at).not.toBeNull();
  });

  test('if Bursar itself ends the retries, and a person who fails the charge ends it', () => {
    const failing = refused({ attempt: null, decline: 'hard', via: 'operator', actor: 'bursar' });
    expect(transition(ofFirst, failing).next.attention).toEqual(ofFirst.attention);
    expect(transition(ofFirst, { ...failing, actor: 'ada' }).next.attention).toBeNull();
  });

  test('also if another reason has replaced it, which an operator ends', () => {
    const elsewhere = transition(transition(ofFirst, paid({ attempt: 2 })).next, {
      ...paid({ attempt: 2, feeMinor: 1n }),
    });
    expect(elsewhere.next.attention?.reason).toContain('another fee');
    const confirmed = transition(elsewhere.next, of('operator_confirmed'), days(1)).next;
    expect(confirmed.attention).toEqual({
      since: days(1),
      reason: 'a payment is still in suspense: accept it or return it',
    });
    expect(confirmed.next_check_at).not.toBeNull();
    expect(transition(confirmed, of('operator_confirmed')).next.attention).toBeNull();
  });

  test('and its customer is not charged again meanwhile', () => {
    const { next } = transition(ofFirst, refused({ attempt: 2 }), days(1));
    expect(next).toMatchObject({ status: 'failed', attempt: 2, next_attempt_at: null });
  });

  test('of two with one amount, the one is accepted whose attempt an operator names', () => {
    const both = transition(ofFirst, { ...half, attempt: 2 }).next;
    expect(both.suspended.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(transition(both, accepts(150_000n, 3)).verdict).toBe('stale');
    const { next } = transition(both, accepts(150_000n, 2));
    expect(next).toMatchObject({ status: 'completed', attempt: 2, suspended: [{ attempt: 1 }] });
  });

  test('and one that is accepted leaves attention for a later attempt that may have been paid too', () => {
    const { next, verdict } = transition(ofFirst, accepts(150_000n));
    expect([verdict, next.status, next.attempt]).toEqual(['attention', 'completed', 1]);
    expect(next.attention?.reason).toContain(attemptReference(ofFirst));
  });
});

describe('a later attempt of a charge that an earlier one has paid', () => {
  const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
  const early = transition(second, paid()).next;

  test('is asked about until it has ended: then nobody need look it up', () => {
    expect(early).toMatchObject({ status: 'completed', attempt: 1, open_attempt: 2 });
    expect(early.monitor_until).not.toBeNull();
    const { next } = transition(early, refused({ attempt: 2, decline: 'hard' }));
    const settled = { open_attempt: null, monitor_until: null, attention: null };
    expect(next).toMatchObject({ status: 'completed', ...settled });
    expect(transition(next, refused({ attempt: 2 })).verdict).toBe('stale');
  });

  test('may be on a page, where a customer who was declined may still pay: a message of the decline ends nothing', () => {
    expect(aboutAttempt({ ...early, attempt: 2 }).isOnPage).toBe(true);
    const told = { ...refused({ attempt: 2, decline: 'hard' }), via: 'webhook' } as const;
    expect(transition(early, told).verdict).toBe('stale');
  });

  test('goes to suspense if it was paid too', () => {
    const { next } = transition(early, paid({ attempt: 2 }));
    expect(next).toMatchObject({ open_attempt: null, monitor_until: null, attempt: 1 });
    expect(next.suspended).toMatchObject([{ attempt: 2 }]);
  });

  test('is not asked about if it was never taken', () => {
    const waiting = transition(sent(merchantCharge()), refused()).next;
    const { next } = transition(waiting, paid());
    expect(next).toMatchObject({ open_attempt: null, monitor_until: null, attention: null });
  });
});

describe('the provider’s fee of a payment in suspense', () => {
  const first = transition(sent(pageCharge()), half).next;
  const withFee = { ...half, feeMinor: 2_250n } as ChargeFact;
  const told = transition(first, withFee);

  test('that becomes known later is booked once, and by its payer when an operator accepts the payment', () => {
    expect(told.verdict).toBe('applied');
    expect(legsOf(told.postings)).toEqual({
      [`${first._id}/suspense-1-fee`]: [
        ['fees', -2_250n],
        ['provider-fees:sandbox-bank', 2_250n],
      ],
    });
    expect(told.next.suspended).toEqual([
      { attempt: 1, amount_minor: 150_000n, fee_minor: 2_250n },
    ]);
    expect(told.next.attention).toEqual(first.attention);
    for (const repeat of [half, withFee]) {
      expect(transition(told.next, repeat)).toMatchObject({ verdict: 'unchanged', postings: [] });
    }
    const accepted = transition(told.next, accepts(150_000n));
    expect(accepted).toMatchObject({ availableMinor: 147_750n, next: { suspense_fees: [] } });
    expect(sumsOf(...told.postings, ...accepted.postings)).toEqual({
      suspense: -150_000n,
      'provider-fees:sandbox-bank': 2_250n,
      'wallet:ten_a:available': 147_750n,
    });
    const other = transition(told.next, { ...half, feeMinor: 1n } as ChargeFact);
    expect([other.verdict, other.postings, other.next.suspended]).toEqual([
      'attention',
      [],
      told.next.suspended,
    ]);
  });

  test('that becomes known after its return is booked once, and zero moves nothing', () => {
    const returned: Charge = {
      ...first,
      suspended: [],
      returned_attempts: [1],
      attention: null,
    };
    const { next, postings } = transition(returned, withFee);
    expect(sumsOf(...postings)).toEqual({ fees: -2_250n, 'provider-fees:sandbox-bank': 2_250n });
    expect(next).toMatchObject({ suspended: [], attention: null });
    for (const repeat of [half, withFee]) {
      expect(transition(next, repeat)).toMatchObject({ verdict: 'unchanged', postings: [] });
    }
    const none = transition(returned, { ...half, feeMinor: 0n } as ChargeFact);
    expect(none.postings).toEqual([]);
    expect(none.next.suspense_fees).toEqual([{ attempt: 1, fee_minor: 0n }]);
  });

  test('that an earlier version has not booked is booked when an operator accepts the payment', () => {
    const { suspense_fees: _, ...before } = told.next;
    expect(transition(before, withFee).verdict).toBe('unchanged');
    const { next, postings } = transition(before, accepts(150_000n));
    expect(legsOf(postings)[`${first._id}/accept`]).toEqual([
      ['suspense', -150_000n],
      ['provider-fees:sandbox-bank', 2_250n],
      ['wallet:ten_a:available', 147_750n],
    ]);
    expect(next).not.toHaveProperty('suspense_fees');
  });
});

describe('a completed charge whose payment the provider has taken back', () => {
  const takenBack = { ...of('cancelled'), kind: 'taken_back' } as ChargeFact;
  const completed = transition(sent(pageCharge()), paid()).next;

  test('calls an operator, once, if its refunds and disputes do not explain it', () => {
    const part: Charge = { ...completed, refunded_minor: 100_000n, disputed_minor: 199_999n };
    for (const charge of [completed, part]) {
      const { verdict, next, postings } = transition(charge, takenBack);
      expect([verdict, postings]).toEqual(['attention', []]);
      expect(next.attention?.reason).toContain('do not explain it');
      const cleared = transition(next, of('operator_confirmed')).next;
      expect([cleared.attention, transition(cleared, takenBack).verdict]).toEqual([
        null,
        'unchanged',
      ]);
    }
  });

  test('calls nobody if they do, if another attempt is meant, or if it was never paid', () => {
    const counts = [
      { refunded_minor: 300_000n },
      { refund_pending_minor: 300_000n },
      { refunded_minor: 100_000n, disputed_minor: 200_000n },
      { attempt: 2 },
      { status: 'failed' as const },
    ];
    for (const explained of counts) {
      expect(transition({ ...completed, ...explained }, takenBack).verdict).toBe('unchanged');
    }
  });
});
