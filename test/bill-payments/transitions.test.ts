import { newBillPayment } from '../../src/capabilities/bill-payments/create.js';
import type { BillPayment } from '../../src/capabilities/bill-payments/record.js';
import {
  transitionBillPayment,
  WITHOUT_TOKEN,
  type BillPaymentFact,
} from '../../src/capabilities/bill-payments/transitions.js';
import { checkItemAmount, itemAmong } from '../../src/capabilities/billers/index.js';
import type { BillItem } from '../../src/core/providers/bill-provider.js';
import { byProvider, NOW } from '../support/transfers.js';

const AMOUNT = 500_000n;
const FEE = 1_500n;
const RECEIPT = { sealed_token: 'sealed', units: '73.0 kWh' };

const paid: BillPaymentFact = {
  ...byProvider,
  kind: 'succeeded',
  amountMinor: AMOUNT,
  sessionId: null,
  receipt: RECEIPT,
};
const paidWithoutReceipt: BillPaymentFact = { ...paid, receipt: null };
const rejected: BillPaymentFact = { ...byProvider, kind: 'rejected', code: 'provider_declined' };
const failedByForce: BillPaymentFact = { ...rejected, via: 'operator', code: 'operator' };
const reversed: BillPaymentFact = {
  ...byProvider,
  kind: 'reversed',
  amountMinor: AMOUNT,
  sessionId: null,
};
const confirmed: BillPaymentFact = { ...byProvider, via: 'operator', kind: 'operator_confirmed' };

const processing = (changes: Partial<BillPayment> = {}): BillPayment => ({
  ...newBillPayment({
    tenant: { id: 'ten_a', billFeeMinor: FEE },
    body: {
      biller_id: 'harbour-electric',
      item_id: 'harbour-prepaid',
      customer_reference: '4503061789',
      amount_minor: Number(AMOUNT),
      currency: 'NGN',
    },
    customerName: null,
    givesToken: true,
    provider: 'sandbox-bank',
    now: NOW,
  }),
  status: 'processing',
  submissions: 1,
  ...changes,
});

/** Applies facts one after another. Returns the last state, and all postings and balance changes. */
function after(facts: BillPaymentFact[], start: Partial<BillPayment> = {}, available = 0n) {
  let payment = processing(start);
  const postings: string[] = [];
  const verdicts: string[] = [];
  let [wallet, owed, day] = [available, 0n, 0n];
  for (const fact of facts) {
    const balances = { availableMinor: wallet, receivableMinor: owed };
    const transition = transitionBillPayment(payment, fact, NOW, balances);
    payment = transition.next;
    wallet += transition.availableMinor;
    owed += transition.receivableMinor;
    day += transition.dayMinor;
    verdicts.push(transition.verdict);
    postings.push(...transition.postings.map((p) => p.id.slice(p.id.indexOf('/') + 1)));
  }
  return { payment, verdicts, postings, gained: wallet - available, owed, day };
}

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
