import type { PaymentProvider } from '../../core/providers/payment-provider.js';
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
import { createRefundCalls, type RefundCalls } from './provider-calls.js';
import type { Refund } from './refund.js';
import type { Refunds } from './store.js';

type Deps = {
  refunds: {
    store: Refunds;
    providerCalls: Pick<RefundCalls, 'verify'>;
    starter: { notifyChangedSoon(refund: Refund): void };
  };
  database: Database;
  providers: { payment(name: string): PaymentProvider };
};

/** Refunds, as they are compared with their providers. */
export const reconciledRefunds = (deps: Deps): Reconciled =>
  reconciledBy(compared(deps), (scope) =>
    recordsSince(deps.database.db.collection<Refund>('refunds'), scope),
  );

function compared({
  refunds: { store, providerCalls, starter },
  providers,
}: Deps): ComparedRecords<Refund, VerifyAnswer> {
  // A comparison alone notes nothing that it learns.
  const unchanged = {
    applyFact: async () => ({ kind: 'no_such_refund' }) as const,
    noteProviderId: async () => undefined,
  };
  const calls = createRefundCalls({ refunds: unchanged, providers });
  return {
    kind: 'refunds',
    get: store.get,
    ask: async (refund, signal) => answerIn(await calls.verify(refund, signal)),
    agrees: paymentAgrees,
    describe: describePayment,
    async apply(refund) {
      const { _id: id, tenant_id: tenantId, provider } = refund;
      const outcome = await providerCalls.verify(refund, new AbortController().signal);
      const fact = paymentFact(answerIn(outcome), provider);
      if (fact) await store.applyFact(refund, fact);
      starter.notifyChangedSoon(refund);
      return verdictOf(refund, await store.get(tenantId, id));
    },
  };
}
