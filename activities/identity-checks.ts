import type { IdentityCheck } from '../src/capabilities/identity-checks/identity-check.js';
import type { IdentityCheckCalls } from '../src/capabilities/identity-checks/provider-calls.js';
import type { IdentityChecks } from '../src/capabilities/identity-checks/store.js';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { Log } from '../src/shared/log.js';
import { providerActivities, type InstructionHandler } from './instructions.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of identity checks need. */
export type IdentityCheckActivityDeps = {
  identityChecks: { store: IdentityChecks; providerCalls: IdentityCheckCalls };
  localSubmissions: LocalSubmissionLimiter;
  operatorActs: OperatorActs;
  log: Log;
};

/** The activities of identity checks. Their names are in histories, so they never change. */
export function createIdentityCheckActivities(deps: IdentityCheckActivityDeps) {
  const activities = providerActivities(identityCheckHandler(deps));
  return {
    submitIdentityCheck: activities.submit,
    submitIdentityCheckLocally: activities.submitLocally,
    verifyIdentityCheck: activities.verify,
    applyIdentityCheckOutcome: activities.applyOutcome,
  };
}

const identityCheckHandler = ({
  identityChecks: { store: checks, providerCalls },
  localSubmissions,
  operatorActs,
  log,
}: IdentityCheckActivityDeps): InstructionHandler<IdentityCheck> => ({
  name: 'identity check',
  records: checks,
  log,
  localSubmissions,
  operatorActs,
  capability: 'identity-checks',

  providerCallsFor: (check) => ({
    provider: check.provider,
    resendSafety: providerCalls.resendSafetyOf(check),
    submit: (requestedAt, signal) => providerCalls.submit(check, requestedAt, signal),
    verify: (signal) => providerCalls.verify(check, signal),
  }),

  async apply({ tenantId, id }, report, origin) {
    const check = await checks.get(tenantId, id);
    if (!check) return null;
    const outcome = await checks.applyFact(check, toFact(report, origin));
    return outcome.kind === 'fact' ? outcome.check : null;
  },
});
