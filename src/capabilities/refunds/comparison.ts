import type { PaymentProvider } from '../../core/providers/payment-provider.js';
import { reconciledBy, type Reconciled } from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { answerIn, comparedPayments } from '../../core/reconciliation/payment-answers.js';
import { paymentRateLimitKey } from '../../platform/temporal/queues.js';
import type { Database } from '../../platform/database/client.js';
import type { Log } from '../../shared/log.js';
import { createRefundCalls, type RefundCalls } from './provider-calls.js';
import type { Refund } from './record.js';
import type { Refunds } from './store.js';

type Deps = {
  refunds: {
    store: Refunds;
    providerCalls: Pick<RefundCalls, 'verify'>;
    starter: { notifyChangedSoon(refund: Refund): void };
  };
  database: Database;
  providers: { payment(name: string): PaymentProvider };
  log: Log;
};

/** Refunds, as they are compared with their providers. */
export const reconciledRefunds = (deps: Deps): Reconciled =>
  reconciledBy(compared(deps), (scope, from) =>
    recordsSince(deps.database.db.collection<Refund>('refunds'), scope, from),
  );

function compared({ refunds: { store, providerCalls, starter }, providers, log }: Deps) {
  // A comparison alone notes nothing that it learns.
  const unchanged = {
    applyFact: async () => ({ kind: 'no_such_refund' }) as const,
    noteProviderId: async () => undefined,
    forgetAccount: async () => false,
    raiseAttention: async () => false,
  };
  const calls = createRefundCalls({ refunds: unchanged, providers, log });
  return comparedPayments<Refund>({
    kind: 'refunds',
    rateLimitKey: paymentRateLimitKey,
    get: store.get,
    // It asks, and sends no account.
    ask: async (refund, signal) =>
      answerIn(await calls.verify({ ...refund, customer_account: null }, signal)),
    verify: (refund, signal) => providerCalls.verify(refund, signal),
    applyFact: (refund, fact) => store.applyFact(refund, fact),
    notifyChangedSoon: (refund) => starter.notifyChangedSoon(refund),
  });
}
