import fc from 'fast-check';
import { newId } from '../../src/shared/ids.js';
import {
  chargeReferences,
  transferReferences,
} from '../../src/core/providers/paystack/references.js';

describe('references at Paystack', () => {
  test('the reference of a charge fits what Paystack accepts, and comes back as ours', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9_999 }), { maxLength: 2 }), (numbers) => {
        const ours = [newId('charge'), ...numbers].join('-');
        const theirs = chargeReferences.toTheirs(ours);
        expect(theirs).toMatch(/^[A-Za-z0-9.=-]+$/);
        expect(theirs).toMatch(chargeReferences.pattern);
        expect(theirs.length).toBeLessThanOrEqual(chargeReferences.maxLength);
        expect(chargeReferences.toOurs(theirs)).toBe(ours);
      }),
    );
  });

  test('the reference of a transfer is ours, unchanged', () => {
    const ours = newId('transfer');
    expect(ours).toMatch(transferReferences.pattern);
    expect(transferReferences.toTheirs(ours)).toBe(ours);
    expect(transferReferences.toOurs(ours)).toBe(ours);
  });

  test.each([
    '',
    'T685312322670591',
    'chg-',
    'chg_x',
    're4lyvq3s3',
    'chg-01kaj2v6wte8v9kcz0t3yd4m5n-x',
  ])('the reference of a transaction that we did not start is none of ours: %j', (theirs) => {
    expect(chargeReferences.toOurs(theirs)).toBeNull();
  });
});
