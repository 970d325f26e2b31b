import type { Log } from '../src/shared/log.js';
import type { RefundCalls } from '../src/capabilities/refunds/provider-calls.js';
import type { Refund } from '../src/capabilities/refunds/record.js';
import type { Refunds } from '../src/capabilities/refunds/store.js';
import type { ProviderFaults } from '../src/core/providers/faults.js';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { InstructionHandler } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { PAYMENTS_STOPPED_BY } from './preparation.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of refunds need. */
export type RefundActivityDeps = {
  refunds: { store: Refunds; providerCalls: RefundCalls };
  charges: { starter: { notifyChangedSoon(charge: { _id: string }): void } };
  localSubmissions: LocalSubmissionLimiter;
  operatorActs: OperatorActs;
  providerFaults: ProviderFaults;
  log: Log;
};

/** The activities of refunds. Their names are in histories, so they never change. */
export function createRefundActivities(deps: RefundActivityDeps) {
  const activities = providerActivities(refundHandler(deps));
  return {
    submitRefund: activities.submit,
    submitRefundLocally: activities.submitLocally,
    verifyRefund: activities.verify,
    applyRefundOutcome: activities.applyOutcome,
  };
}

const refundHandler = ({
  refunds: { store: refunds, providerCalls },
  charges: { starter: charges },
  localSubmissions,
  operatorActs,
  providerFaults: faults,
  log,
}: RefundActivityDeps): InstructionHandler<Refund> => ({
  name: 'refund',
  records: refunds,
  log,
  localSubmissions,
  operatorActs,
  capability: 'refunds',
  faults,
  stoppedBy: PAYMENTS_STOPPED_BY,

  providerCallsFor: (refund) => ({
    provider: refund.provider,
    resendSafety: providerCalls.resendSafetyOf(refund),
    submit: (requestedAt, signal) => providerCalls.submit(refund, requestedAt, signal),
    verify: (signal) => providerCalls.verify(refund, signal),
  }),

  async apply({ tenantId, id }, report, origin) {
    const refund = await refunds.get(tenantId, id);
    if (!refund) return null;
    const outcome = await refunds.applyFact(refund, toFact(report, origin));
    // A charge whose payment was returned from suspense fails.
    if (refund.made_by === 'operator') charges.notifyChangedSoon({ _id: refund.charge_id });
    return outcome.kind === 'fact' ? outcome.refund : null;
  },
});
