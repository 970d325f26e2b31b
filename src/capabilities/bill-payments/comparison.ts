import { aboutOf } from '../../core/instructions/instruction.js';
import type { BillProvider } from '../../core/providers/bill-provider.js';
import { reconciledBy, type Reconciled } from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { comparedPayments } from '../../core/reconciliation/payment-answers.js';
import { billRateLimitKey } from '../../platform/temporal/queues.js';
import type { Database } from '../../platform/database/client.js';
import type { BillPayment } from './record.js';
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
  reconciledBy(compared(deps), (scope, from) =>
    recordsSince(deps.database.db.collection<BillPayment>('bill_payments'), scope, from),
  );

const compared = ({ billPayments: { store, providerCalls, starter }, providers }: Deps) =>
  comparedPayments<BillPayment>({
    kind: 'bill-payments',
    rateLimitKey: billRateLimitKey,
    get: store.get,
    async ask(payment, signal) {
      const answer = await providers.bill(payment.provider).verify(aboutOf(payment), signal);
      return 'amountMinor' in answer ? { ...answer, sessionId: null } : answer;
    },
    // The answer of a payment brings its receipt, which is committed with it.
    verify: (payment, signal) => providerCalls.verify(payment, signal),
    applyFact: ({ tenant_id: tenantId, _id: id }, fact) => store.applyFact(tenantId, id, fact),
    notifyChangedSoon: (payment) => starter.notifyChangedSoon(payment),
  });
