import type { Log } from '../src/shared/log.js';
import type { RefundCalls } from '../src/capabilities/refunds/provider-calls.js';
import type { Refund } from '../src/capabilities/refunds/refund.js';
import type { Refunds } from '../src/capabilities/refunds/store.js';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import { providerActivities, type InstructionHandler } from './instructions.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of refunds need. */
export type RefundActivityDeps = {
  refunds: { store: Refunds; providerCalls: RefundCalls };
  localSubmissions: LocalSubmissionLimiter;
  operatorActs: OperatorActs;
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
  localSubmissions,
  operatorActs,
  log,
}: RefundActivityDeps): InstructionHandler<Refund> => ({
  name: 'refund',
  records: refunds,
  log,
  localSubmissions,
  operatorActs,
  capability: 'refunds',

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
    return outcome.kind === 'fact' ? outcome.refund : null;
  },
});
