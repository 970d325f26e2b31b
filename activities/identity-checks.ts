import type { IdentityCheck } from '../src/capabilities/identity-checks/record.js';
import type { IdentityCheckCalls } from '../src/capabilities/identity-checks/provider-calls.js';
import type { IdentityChecks } from '../src/capabilities/identity-checks/store.js';
import { withFaults, type InstructionHandler, type PartsAndFaults } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { FEATURES_STOPPED_BY } from './preparation.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of identity checks need. */
export type IdentityCheckActivityDeps = PartsAndFaults & {
  identityChecks: { store: IdentityChecks; providerCalls: IdentityCheckCalls };
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
  ...deps
}: IdentityCheckActivityDeps): InstructionHandler<IdentityCheck> => ({
  name: 'identity check',
  records: checks,
  ...withFaults(deps),
  capability: 'identity-checks',
  stoppedBy: FEATURES_STOPPED_BY,

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
