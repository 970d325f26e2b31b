import { newBillPayment } from '../../src/capabilities/bill-payments/create.js';
import type { BillPayment } from '../../src/capabilities/bill-payments/record.js';
import {
  transitionBillPayment,
  type BillPaymentFact,
} from '../../src/capabilities/bill-payments/transitions.js';
import { type Posting, holdPosting } from '../../src/core/ledger/posting.js';
import { checkPayment } from '../../src/core/outgoing-payments/audit.js';
import { holdOf } from '../../src/core/outgoing-payments/outgoing-payment.js';
import { storedPostings } from './stored-postings.js';
import { byProvider, NOW } from './transfers.js';

/** The amount of the payment, in kobo. */
export const AMOUNT = 500_000n;
/** Its fee, in kobo. */
export const FEE = 1_500n;
/** Its receipt as it is stored. */
export const RECEIPT = { sealed_token: 'sealed', units: '73.0 kWh' };

/** A fact about a payment of `AMOUNT` with the fee `FEE`. */
export const paid = {
  ...byProvider,
  kind: 'succeeded',
  amountMinor: AMOUNT,
  sessionId: null,
  receipt: RECEIPT,
} as const satisfies BillPaymentFact;
/** A fact about a payment of `AMOUNT` with the fee `FEE`. */
export const paidWithoutReceipt = { ...paid, receipt: null } as const satisfies BillPaymentFact;
/** A fact about a payment of `AMOUNT` with the fee `FEE`. */
export const rejected = {
  ...byProvider,
  kind: 'rejected',
  code: 'provider_declined',
} as const satisfies BillPaymentFact;
/** A fact about a payment of `AMOUNT` with the fee `FEE`. */
export const failedByForce = {
  ...rejected,
  via: 'operator',
  code: 'operator',
} as const satisfies BillPaymentFact;
/** A fact about a payment of `AMOUNT` with the fee `FEE`. */
export const reversed = {
  ...byProvider,
  kind: 'reversed',
  amountMinor: AMOUNT,
  sessionId: null,
} as const satisfies BillPaymentFact;
/** A fact about a payment of `AMOUNT` with the fee `FEE`. */
export const confirmed = {
  ...byProvider,
  via: 'operator',
  kind: 'operator_confirmed',
} as const satisfies BillPaymentFact;

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

/** Applies facts one after another to a processing payment. Returns the last state, and all postings and balance changes. */
export function after(facts: BillPaymentFact[], start: Partial<BillPayment> = {}, available = 0n) {
  let payment = processing(start);
  const made: Posting[] = [holdPosting(holdOf(payment))];
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
    made.push(...transition.postings);
    postings.push(...transition.postings.map((p) => p.id.slice(p.id.indexOf('/') + 1)));
  }
  return { payment, verdicts, postings, made, gained: wallet - available, owed, day };
}

/** The problems that an audit of the ledger finds with a bill payment and its postings. */
export const problemsOf = ({
  payment,
  made,
}: Pick<ReturnType<typeof after>, 'payment' | 'made'>): string[] =>
  checkPayment(
    {
      ...payment,
      postings: storedPostings(made),
    },
    'bill payment',
  );
