import type { AccountCalls } from '../src/capabilities/virtual-accounts/provider-calls.js';
import type { VirtualAccounts } from '../src/capabilities/virtual-accounts/store.js';
import type {
  AccountInstruction,
  VirtualAccount,
} from '../src/capabilities/virtual-accounts/record.js';
import { withFaults, type InstructionHandler, type PartsAndFaults } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { FEATURES_STOPPED_BY } from './preparation.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of virtual accounts need. */
export type VirtualAccountActivityDeps = PartsAndFaults & {
  virtualAccounts: { store: VirtualAccounts; providerCalls: AccountCalls };
};

/** The activities that assign and close virtual accounts. Their names are in histories, so they never change. */
export function createVirtualAccountActivities(deps: VirtualAccountActivityDeps) {
  const assignment = providerActivities(accountHandler(deps, 'assign'));
  const closing = providerActivities(accountHandler(deps, 'close'));
  return {
    submitVirtualAccountAssignment: assignment.submit,
    submitVirtualAccountAssignmentLocally: assignment.submitLocally,
    verifyVirtualAccountAssignment: assignment.verify,
    applyVirtualAccountAssignmentOutcome: assignment.applyOutcome,
    submitVirtualAccountClosing: closing.submit,
    submitVirtualAccountClosingLocally: closing.submitLocally,
    verifyVirtualAccountClosing: closing.verify,
    applyVirtualAccountClosingOutcome: closing.applyOutcome,
  };
}

/** A fact names its instruction: one that comes late from an assignment must not end a closing. */
const accountHandler = (
  { virtualAccounts: { store: accounts, providerCalls }, ...deps }: VirtualAccountActivityDeps,
  instruction: AccountInstruction,
): InstructionHandler<VirtualAccount> => ({
  name: 'virtual account',
  records: accounts,
  ...withFaults(deps),
  capability: 'virtual-accounts',
  stoppedBy: FEATURES_STOPPED_BY,
  instruction,

  providerCallsFor: (account) => ({
    provider: account.provider,
    resendSafety: providerCalls.resendSafetyOf(account),
    submit: (requestedAt, signal) => providerCalls.submit(account, requestedAt, signal),
    verify: (signal) => providerCalls.verify(account, signal),
  }),

  async apply({ tenantId, id }, report, origin) {
    const account = await accounts.get(tenantId, id);
    if (!account) return null;
    const fact = { ...toFact(report, origin), instruction };
    const outcome = await accounts.applyFact(account, fact);
    return outcome.kind === 'fact' ? outcome.account : null;
  },
});
