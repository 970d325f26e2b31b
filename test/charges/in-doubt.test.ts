import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import type { Charge } from '../../src/capabilities/charges/record.js';
import { grantPermit } from '../../src/core/instructions/submit-permit.js';
import {
  accepts,
  days,
  merchantCharge,
  of,
  pageCharge,
  paid,
  refused,
  sent,
  transition,
} from '../support/charge-facts.js';
import { NOW } from '../support/transfers.js';

const half = paid({ amountMinor: 150_000n, feeMinor: null });
describe('a charge whose customer has paid otherwise than was requested is not charged again', () => {
  const waiting = transition(sent(merchantCharge()), refused()).next;
  const throttled = { ...sent(waiting, days(1)), rejected_submissions: 1 };
  const mayNotLeave = (charge: Charge) => {
    const permit = { submissions: charge.submissions, actor: 'test', dueAt: NOW };
    expect(grantPermit(charge, permit, days(9))).toBeNull();
  };
  const usd = paid({ currency: 'USD' });

  test.each<[what: string, fact: ChargeFact]>([
    ['another amount', half],
    ['another currency', usd],
    ['an impossible fee', paid({ feeMinor: 300_001n })],
  ])('if its next attempt has not begun, and %s is reported: it fails', (_what, fact) => {
    for (const charge of [waiting, throttled]) {
      const { verdict, next } = transition(charge, fact);
      expect([verdict, next.status, next.failure?.code]).toEqual([
        'attention',
        'failed',
        'payment_mismatch',
      ]);
      expect(next).toMatchObject({ next_attempt_at: null, attention: { since: NOW } });
      expect(next.next_check_at).not.toBeNull();
      mayNotLeave(next);
      expect(transition(next, fact).verdict).toBe('unchanged');
    }
  });

  test('and completes once an operator accepts the payment, or it is reported as requested', () => {
    const failed = transition(waiting, half).next;
    expect(transition(failed, accepts(150_000n)).next).toMatchObject({
      status: 'completed',
      attempt: 1,
      settled_amount_minor: 150_000n,
      failure: null,
      attention: null,
    });
    expect(transition(failed, paid()).next).toMatchObject({ status: 'completed', suspended: [] });
  });

  const ends = refused({ attempt: null, code: 'operator', decline: 'hard', via: 'operator' });

  test.each<[what: string, end: ChargeFact]>([
    ['fails it', ends],
    ['fails it by force', { ...ends, ifNotSubmitted: true } as ChargeFact],
    ['stands by it', { ...of('operator_confirmed'), attempt: null }],
  ])('and nobody is called for the same report once an operator %s', (_what, end) => {
    for (const charge of [waiting, throttled]) {
      const settled = transition(transition(charge, usd).next, end).next;
      expect([settled.status, settled.attention]).toEqual(['failed', null]);
      expect(transition(settled, usd).verdict).toBe('stale');
      // Another payment is another question.
      expect(transition(settled, { ...usd, attempt: 2 }).verdict).toBe('attention');
    }
    const inSuspense = transition(throttled, half).next;
    expect(transition(inSuspense, { ...ends, ifNotSubmitted: true } as ChargeFact).verdict).toBe(
      'stale',
    );
  });

  test('after an attempt that was out: a decline ends it, and the operator stays called', () => {
    const out = transition(sent(waiting, days(1)), usd).next;
    expect([out.status, out.attention]).toMatchObject(['processing', { since: NOW }]);
    const { next } = transition(out, refused({ attempt: 2 }), days(1));
    expect(next).toMatchObject({ status: 'failed', attention: out.attention });
    mayNotLeave(next);
  });

  test('by another page, after the address of one was lost', () => {
    const onSecond = sent(transition(sent(pageCharge()), of('page_lost')).next);
    const inDoubt = transition(onSecond, half).next;
    const { next } = transition(inDoubt, { ...of('page_lost'), attempt: 2 });
    expect(next).toMatchObject({ status: 'failed', attempt: 2, attention: inDoubt.attention });
    mayNotLeave(next);
  });

  test('if its present attempt gets no permit any more: it is asked about for a day, and looked up', () => {
    const out = transition(sent(waiting, days(1)), half).next;
    const withheld = refused({
      attempt: 2,
      code: 'payment_mismatch',
      decline: 'hard',
      via: 'note',
      actor: 'bursar',
    });
    const { next } = transition(out, withheld);
    expect(next).toMatchObject({ status: 'failed', attention: out.attention });
    expect(next.monitor_until).not.toBeNull();
    const accepted = transition(next, accepts(150_000n)).next;
    expect(accepted).toMatchObject({ status: 'completed', open_attempt: 2 });
    expect(transition(next, paid({ attempt: 2 })).next).toMatchObject({
      status: 'completed',
      attempt: 2,
      suspended: [{ attempt: 1 }],
    });
  });
});
