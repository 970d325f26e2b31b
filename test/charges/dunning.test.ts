import fc from 'fast-check';
import { presentCharge } from '../../src/capabilities/charges/presenter.js';
import { grantPermit } from '../../src/core/instructions/submit-permit.js';
import { NOW } from '../support/transfers.js';
import {
  DAY_MS,
  days,
  merchantCharge,
  pageCharge,
  sent,
  refused,
  transition,
} from '../support/charge-facts.js';

describe('a decline', () => {
  test('softly is tried again 1, 3, 5 and 7 days after the first decline, then it has failed', () => {
    let charge = merchantCharge();
    const due: unknown[] = [];
    for (const day of [0, 1, 3, 5, 7]) {
      charge = sent(charge, days(day));
      // A decline that arrives late changes no date: the days count from the first attempt.
      charge = transition(charge, refused({ attempt: charge.attempt }), days(day)).next;
      due.push(charge.next_attempt_at);
    }
    expect(due).toEqual([days(1), days(3), days(5), days(7), null]);
    expect(charge).toMatchObject({ status: 'failed', attempt: 5, next_check_at: null });
    expect(charge.failure?.code).toBe('insufficient_funds');
  });

  test('softly keeps the spacing of its attempts, however late an outage lets them leave', () => {
    const lateDays = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(lateDays, (late) => {
        let charge = transition(sent(merchantCharge()), refused(), NOW).next;
        let last = NOW.getTime();
        const spacings: number[] = [];
        for (const lateBy of late) {
          const leaves = new Date(Number(charge.next_attempt_at) + lateBy * DAY_MS);
          spacings.push((leaves.getTime() - last) / DAY_MS - lateBy);
          last = leaves.getTime();
          charge = transition(
            sent(charge, leaves),
            refused({ attempt: charge.attempt }),
            leaves,
          ).next;
        }
        expect(spacings).toEqual([1, 2, 2, 2]);
      }),
    );
  });

  test('softly may not leave again before its day', () => {
    const waiting = transition(sent(merchantCharge()), refused()).next;
    expect(waiting).toMatchObject({
      status: 'pending',
      attempt: 2,
      submissions: 0,
      next_check_at: days(1),
    });
    expect(presentCharge(waiting).next_attempt_at).toBe(days(1).toISOString());
    expect(presentCharge(sent(waiting, days(1))).next_attempt_at).toBeNull();
    const request = { submissions: 0, actor: 'test', dueAt: NOW };
    expect(grantPermit(waiting, request, new Date(days(1).getTime() - 1))).toBeNull();
    expect(grantPermit(waiting, request, days(1))).toMatchObject({
      attempt: 2,
      status: 'processing',
    });
  });

  test('for good fails at once', () => {
    expect(transition(sent(merchantCharge()), refused({ decline: 'hard' })).next.status).toBe(
      'failed',
    );
    expect(transition(sent(pageCharge()), refused()).next.status).toBe('failed');
  });

  test('in an earlier attempt has no effect on this one', () => {
    const second = sent(transition(sent(merchantCharge()), refused()).next, days(1));
    expect(transition(second, refused({ attempt: 1 })).verdict).toBe('stale');
  });
});
