import type { BillPayment } from '../src/capabilities/bill-payments/record.js';
import type { BillPaymentCalls } from '../src/capabilities/bill-payments/provider-calls.js';
import type { BillPayments } from '../src/capabilities/bill-payments/store.js';
import { withFaults, type InstructionHandler, type PartsAndFaults } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { FEATURES_STOPPED_BY } from './preparation.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of bill payments need. */
export type BillPaymentActivityDeps = PartsAndFaults & {
  billPayments: { store: BillPayments; providerCalls: BillPaymentCalls };
};

/** The activities of bill payments. Their names are in histories, so they never change. */
export function createBillPaymentActivities(deps: BillPaymentActivityDeps) {
  const activities = providerActivities(billPaymentHandler(deps));
  return {
    submitBillPayment: activities.submit,
    submitBillPaymentLocally: activities.submitLocally,
    verifyBillPayment: activities.verify,
    applyBillPaymentOutcome: activities.applyOutcome,
  };
}

const billPaymentHandler = ({
  billPayments: { store: payments, providerCalls },
  ...deps
}: BillPaymentActivityDeps): InstructionHandler<BillPayment> => ({
  name: 'bill payment',
  records: payments,
  ...withFaults(deps),
  capability: 'bill-payments',
  stoppedBy: FEATURES_STOPPED_BY,

  providerCallsFor: (payment) => ({
    provider: payment.provider,
    resendSafety: providerCalls.resendSafetyOf(payment),
    submit: (requestedAt, signal) => providerCalls.submit(payment, requestedAt, signal),
    verify: (signal) => providerCalls.verify(payment, signal),
  }),

  async apply({ tenantId, id }, report, origin) {
    const outcome = await payments.applyFact(tenantId, id, toFact(report, origin));
    return outcome.kind === 'fact' ? outcome.payment : null;
  },
});
