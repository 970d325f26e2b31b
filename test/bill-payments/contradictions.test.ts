import fc from 'fast-check';
import {
  WITHOUT_TOKEN,
  type BillPaymentFact,
} from '../../src/capabilities/bill-payments/transitions.js';
import { accounts } from '../../src/core/ledger/posting.js';
import {
  after,
  AMOUNT,
  confirmed,
  failedByForce,
  FEE,
  paid,
  paidWithoutReceipt,
  problemsOf,
  RECEIPT,
  rejected,
  reversed,
} from '../support/bill-payment-facts.js';
import { NOW } from '../support/transfers.js';

const LESS = AMOUNT - 1_000n;
const asked = (fact: BillPaymentFact): BillPaymentFact => ({
  ...fact,
  via: 'poll',
  askedMs: NOW.getTime() + 1,
});
const paidOther = (amountMinor: bigint): BillPaymentFact => ({ ...paid, amountMinor });
const reversedOther: BillPaymentFact = { ...reversed, amountMinor: LESS };
const accepted = (amountMinor: bigint): BillPaymentFact => ({
  ...confirmed,
  amountMinor,
  sessionId: null,
});

describe('a report of the biller that contradicts what is booked of a payment', () => {
  test('paid, then rejected: a forced fail returns amount and fee, once, and the receipt stays with the record', () => {
    const all = after([paid, rejected, failedByForce, failedByForce, asked(rejected)]);
    expect(all.verdicts).toEqual(['applied', 'attention', 'applied', 'stale', 'applied']);
    expect(all.payment).toMatchObject({
      status: 'failed',
      failure: { code: 'operator' },
      attention: null,
      monitor_until: null,
      receipt: RECEIPT,
    });
    expect([all.postings, all.gained, all.day]).toEqual([
      ['resolve', 'return-1'],
      AMOUNT + FEE,
      AMOUNT,
    ]);
    expect(problemsOf(all)).toEqual([]);
  });

  test('a forced fail of a completed payment that the biller has not denied changes nothing', () => {
    for (const facts of [[paid], [paid, paidOther(LESS)]]) {
      expect(after([...facts, failedByForce])).toMatchObject({
        postings: ['resolve'],
        payment: { status: 'completed' },
      });
    }
  });

  test.each([
    [LESS, 1_000n],
    [AMOUNT + 1_000n, 0n],
  ])(
    'paid, then %d: an operator accepts the amount, once, and the difference moves',
    (amount, back) => {
      const all = after([paid, paidOther(amount), accepted(amount), accepted(amount)]);
      expect(all.verdicts).toEqual(['applied', 'attention', 'applied', 'unchanged']);
      expect(all.payment).toMatchObject({
        status: 'completed',
        attention: null,
        settled_amount_minor: amount,
      });
      expect([all.postings, all.gained]).toEqual([['resolve', 'adjustment-1'], back]);
      expect(problemsOf(all)).toEqual([]);
    },
  );

  test('the end of a contradiction calls again for a token that is still missing', () => {
    const other = { ...paidWithoutReceipt, amountMinor: LESS };
    for (const end of [accepted(LESS), asked(paidWithoutReceipt)]) {
      const { payment } = after([paidWithoutReceipt, other, end]);
      expect(payment.attention?.reason).toBe(WITHOUT_TOKEN);
    }
  });

  test('reversed with another amount while it is completed: a forced fail takes back what is booked', () => {
    const all = after([paid, reversedOther, failedByForce]);
    expect(all.payment).toMatchObject({ status: 'failed', attention: null });
    expect([all.postings, all.gained]).toEqual([['resolve', 'return-1'], AMOUNT + FEE]);
    expect(problemsOf(all)).toEqual([]);
  });

  test('the call ends if the biller, when it is asked, agrees with what is booked again', () => {
    for (const contradiction of [rejected, paidOther(LESS), reversedOther]) {
      expect(after([paid, contradiction, asked(paid)]).payment.attention).toBeNull();
      expect(after([paid, contradiction, paid]).payment.attention).not.toBeNull();
    }
  });

  test('whatever the biller and operators say in whatever order, the books are those of the state', () => {
    const amounts = [LESS, AMOUNT, AMOUNT + 1_000n];
    const fact = fc.oneof(
      ...[rejected, asked(rejected), failedByForce, confirmed, asked(paid)].map((each) =>
        fc.constant(each),
      ),
      ...[
        paidOther,
        accepted,
        (amountMinor: bigint): BillPaymentFact => ({ ...reversed, amountMinor }),
      ].map((make) => fc.constantFrom(...amounts).map((amount) => make(amount))),
    );
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 20 }), fc.bigInt(0n, 600_000n), (facts, balance) => {
        const all = after(facts, {}, balance);
        const ids = all.made.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const moved = (account: string) =>
          all.made
            .flatMap(({ legs }) => legs)
            .filter((leg) => leg.account === account)
            .reduce((sum, leg) => sum + leg.amountMinor, 0n);
        const { tenant_id: tenant } = all.payment;
        expect(moved(accounts.available(tenant))).toBe(all.gained - AMOUNT - FEE);
        expect(moved(accounts.receivable(tenant))).toBe(-all.owed);
        expect(problemsOf(all)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
