import type { BillProvider } from '../../core/providers/bill-provider.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import {
  reconciledBy,
  verdictOf,
  type ComparedRecords,
  type Reconciled,
} from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import {
  answerIn,
  describePayment,
  paymentAgrees,
  paymentFact,
} from '../../core/reconciliation/payment-answers.js';
import type { Database } from '../../platform/database/client.js';
import type { BillPayment } from './bill-payment.js';
import type { BillPaymentCalls } from './provider-calls.js';
import type { BillPayments } from './store.js';

type Deps = {
  billPayments: {
    store: BillPayments;
    providerCalls: Pick<BillPaymentCalls, 'verify'>;
    starter: { notifyChangedSoon(payment: BillPayment): void };
  };
  database: Database;
  providers: { bill(name: string): BillProvider };
};

/** Bill payments, as they are compared with their providers. */
export const reconciledBillPayments = (deps: Deps): Reconciled =>
  reconciledBy(compared(deps), (scope) =>
    recordsSince(deps.database.db.collection<BillPayment>('bill_payments'), scope),
  );

const compared = ({
  billPayments: { store, providerCalls, starter },
  providers,
}: Deps): ComparedRecords<BillPayment, VerifyAnswer> => ({
  kind: 'bill-payments',
  get: store.get,
  async ask({ _id: id, provider }, signal) {
    const answer = await providers.bill(provider).verify(id, signal);
    return 'amountMinor' in answer ? { ...answer, sessionId: null } : answer;
  },
  agrees: paymentAgrees,
  describe: describePayment,
  /** Asks once more, because the answer of a payment brings its receipt, which is committed with it. */
  async apply(payment) {
    const { _id: id, tenant_id: tenantId, provider } = payment;
    const outcome = await providerCalls.verify(payment, new AbortController().signal);
    const fact = paymentFact(answerIn(outcome), provider);
    if (fact) await store.applyFact(tenantId, id, fact);
    starter.notifyChangedSoon(payment);
    return verdictOf(payment, await store.get(tenantId, id));
  },
});
