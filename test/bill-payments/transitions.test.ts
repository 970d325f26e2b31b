import {
  WITHOUT_TOKEN,
  type BillPaymentFact,
} from '../../src/capabilities/bill-payments/transitions.js';
import { checkItemAmount, itemAmong } from '../../src/capabilities/billers/index.js';
import type { BillItem } from '../../src/core/providers/bill-provider.js';
import {
  after,
  AMOUNT,
  confirmed,
  failedByForce,
  FEE,
  paid,
  paidWithoutReceipt,
  RECEIPT,
  rejected,
  reversed,
} from '../support/bill-payment-facts.js';
import { NOW } from '../support/transfers.js';

describe('transitions of a bill payment', () => {
  test('a payment is captured with its receipt once, however often it is reported', () => {
    const result = after([paid, paid, paidWithoutReceipt]);
    expect(result).toMatchObject({
      verdicts: ['applied', 'unchanged', 'unchanged'],
      postings: ['resolve'],
      gained: 0n,
      day: 0n,
      payment: { status: 'completed', receipt: RECEIPT, attention: null, next_check_at: null },
    });
  });

  test('a refusal returns amount and fee, and the amount to the day', () => {
    expect(after([rejected])).toMatchObject({
      postings: ['resolve'],
      gained: AMOUNT + FEE,
      day: AMOUNT,
      payment: { status: 'failed', failure: { code: 'provider_declined' }, receipt: null },
    });
  });

  test('a reversal outranks the payment in any order of arrival', () => {
    for (const facts of [[paid, reversed], [reversed, paid], [reversed]]) {
      const { payment, gained, day } = after(facts);
      expect([payment.status, payment.reversed_at, gained, day]).toEqual([
        'failed',
        NOW,
        AMOUNT + FEE,
        AMOUNT,
      ]);
    }
  });

  describe('a payment of a prepaid meter without its token', () => {
    test('is completed and calls an operator, and a later report adds the token', () => {
      const lacking = after([paidWithoutReceipt]);
      expect(lacking.payment).toMatchObject({
        status: 'completed',
        attention: { reason: WITHOUT_TOKEN },
        next_check_at: NOW,
      });
      const found = after([paidWithoutReceipt, paid]);
      expect(found).toMatchObject({
        verdicts: ['applied', 'applied'],
        postings: ['resolve'],
        payment: { receipt: RECEIPT, attention: null, next_check_at: null },
      });
    });

    test.each(['webhook', 'poll'] as const)(
      'gets its token and its units in either order, by %s, and the attention ends with the token',
      (via) => {
        const units: BillPaymentFact = {
          ...paid,
          via,
          receipt: { ...RECEIPT, sealed_token: null },
        };
        const token: BillPaymentFact = { ...paid, via, receipt: { ...RECEIPT, units: null } };
        const lacking = after([units, units]);
        expect(lacking.verdicts).toEqual(['applied', 'unchanged']);
        expect(lacking.payment.attention).toMatchObject({ reason: WITHOUT_TOKEN });
        for (const facts of [
          [units, token],
          [token, units],
        ]) {
          expect(after([...facts, ...facts])).toMatchObject({
            verdicts: ['applied', 'applied', 'unchanged', 'unchanged'],
            postings: ['resolve'],
            payment: { receipt: RECEIPT, attention: null, next_check_at: null },
          });
        }
        // The first token stays: it may be on a meter already.
        const other = { ...RECEIPT, sealed_token: 'another one' };
        expect(after([paid, { ...paid, via, receipt: other }]).verdicts).toEqual([
          'applied',
          'unchanged',
        ]);
      },
    );

    test('an operator may accept that there is no token', () => {
      expect(after([paidWithoutReceipt, confirmed])).toMatchObject({
        postings: ['resolve'],
        payment: { status: 'completed', receipt: null, attention: null },
      });
    });

    test('needs no operator if the item gives none', () => {
      const { payment } = after([paidWithoutReceipt], { gives_token: false });
      expect(payment).toMatchObject({ status: 'completed', attention: null, next_check_at: null });
    });
  });

  test('a payment after a forced failure goes to suspense with its receipt, and complete debits the wallet', () => {
    const late = after([failedByForce, paid]);
    expect(late).toMatchObject({
      postings: ['resolve', 'suspense'],
      gained: AMOUNT + FEE,
      payment: { status: 'failed', in_suspense: true, receipt: RECEIPT },
    });
    expect(late.payment.attention).not.toBeNull();
    expect(after([failedByForce, paid, confirmed])).toMatchObject({
      postings: ['resolve', 'suspense', 'suspense-debit'],
      gained: 0n,
      owed: 0n,
      payment: { status: 'completed', in_suspense: false, receipt: RECEIPT, attention: null },
    });
  });

  test('another amount moves no money and keeps the receipt until an operator accepts the amount', () => {
    const less = AMOUNT - 1_000n;
    const report: BillPaymentFact = { ...paid, amountMinor: less };
    expect(after([report])).toMatchObject({
      verdicts: ['attention'],
      postings: [],
      payment: { status: 'processing', receipt: RECEIPT },
    });
    const accepted: BillPaymentFact = { ...confirmed, amountMinor: less };
    expect(after([report, accepted])).toMatchObject({
      postings: ['resolve'],
      gained: 1_000n,
      day: 1_000n,
      payment: { status: 'completed', settled_amount_minor: less, attention: null },
    });
  });
});

describe('items of a biller', () => {
  const item = (changes: Partial<BillItem> = {}): BillItem => ({
    id: 'a',
    name: 'A',
    fixedMinor: null,
    minMinor: 100n,
    maxMinor: 200n,
    givesToken: false,
    ...changes,
  });

  test.each([
    [100n, null],
    [200n, null],
    [99n, 'at least 100'],
    [201n, 'at most 200'],
  ])('the amount %s of an item from 100 to 200 is refused: %s', (amount, problem) => {
    const check = () => checkItemAmount(item(), amount);
    if (problem === null) expect(check).not.toThrow();
    else expect(check).toThrow(problem);
  });

  test('an item with a price takes that amount alone', () => {
    const priced = item({ fixedMinor: 150n });
    expect(() => checkItemAmount(priced, 150n)).not.toThrow();
    for (const amount of [149n, 151n]) {
      expect(() => checkItemAmount(priced, amount)).toThrow('must be 150');
    }
  });

  test('a biller or an item that does not exist is named', () => {
    expect(() => itemAmong([], 'a')).toThrow('no such biller');
    expect(() => itemAmong([item()], 'b')).toThrow('no such item');
    expect(itemAmong([item()], 'a').id).toBe('a');
  });
});
