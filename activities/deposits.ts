import type { Deposit, DepositInstruction } from '../src/capabilities/deposits/record.js';
import type { DepositCalls } from '../src/capabilities/deposits/provider-calls.js';
import { reconcileDepositPage } from '../src/capabilities/deposits/reconciliation.js';
import type { Deposits } from '../src/capabilities/deposits/store.js';
import type {
  DepositReconciliationInput,
  DepositReconciliationPage,
  DepositReconciliationPosition,
} from '../src/capabilities/deposits/workflow-contract.js';
import type { VirtualAccounts } from '../src/capabilities/virtual-accounts/index.js';
import type { Breaks } from '../src/core/reconciliation/breaks.js';
import type { ReconciliationRuns } from '../src/core/reconciliation/last-runs.js';
import type { CallRates } from '../src/core/providers/call-rates.js';
import type { Providers } from '../src/core/providers/registry.js';
import { accountRateLimitKey } from '../src/platform/temporal/queues.js';
import { withFaults, type InstructionHandler, type PartsAndFaults } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { withHeartbeats } from './heartbeats.js';
import { FEATURES_STOPPED_BY } from './preparation.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of deposits need. */
export type DepositActivityDeps = PartsAndFaults & {
  deposits: { store: Deposits; providerCalls: DepositCalls };
  virtualAccounts: { store: VirtualAccounts };
  providers: Pick<Providers, 'findAccountProvider'>;
  callRates: Pick<CallRates, 'answered'>;
  breaks: Pick<Breaks, 'note'>;
  reconciliationRuns: Pick<ReconciliationRuns, 'noteEnd'>;
};

/** The activities that confirm, return and find deposits. Their names are in histories, so they never change. */
export function createDepositActivities(deps: DepositActivityDeps) {
  const confirmation = providerActivities(depositHandler(deps, 'confirm'));
  const returning = providerActivities(depositHandler(deps, 'return'));
  return {
    submitDepositConfirmation: confirmation.submit,
    submitDepositConfirmationLocally: confirmation.submitLocally,
    verifyDepositConfirmation: confirmation.verify,
    applyDepositConfirmationOutcome: confirmation.applyOutcome,
    submitDepositReturn: returning.submit,
    submitDepositReturnLocally: returning.submitLocally,
    verifyDepositReturn: returning.verify,
    applyDepositReturnOutcome: returning.applyOutcome,

    /** One page of the search for deposits that no message has reported. */
    reconcileDeposits: (
      input: DepositReconciliationInput & { position: DepositReconciliationPosition | null },
    ) => withHeartbeats(() => searchDeposits(deps, input)),
  };
}

/** A page of the search. It notes whether the provider answers, as the calls of its queue do. */
async function searchDeposits(
  deps: DepositActivityDeps,
  input: Parameters<typeof reconcileDepositPage>[1],
): Promise<DepositReconciliationPage> {
  const page = await reconcileDepositPage(deps, input);
  const rateLimit = accountRateLimitKey(input.provider);
  if (page.asked > 0) deps.callRates.answered(rateLimit, !page.unanswered);
  // The accounts that wait longest are queried first, and a run need not end with all of them: its list is read to the end.
  if (page.next?.step !== 'list') {
    await deps.reconciliationRuns.noteEnd({ kind: 'deposit-search', provider: input.provider });
  }
  return page;
}

/** A fact names its instruction: one that comes late from a confirmation must not end a return. */
const depositHandler = (
  { deposits: { store: deposits, providerCalls }, ...deps }: DepositActivityDeps,
  instruction: DepositInstruction,
): InstructionHandler<Deposit> => ({
  name: 'deposit',
  records: deposits,
  ...withFaults(deps),
  capability: 'deposits',
  stoppedBy: FEATURES_STOPPED_BY,
  // The payer chooses the amount of a return, which must not stop every transfer.
  perhapsOfOne: ['float'],
  instruction,

  // A confirmation is a question, which a repeat may ask again.
  ...(instruction === 'return' && {
    isSubmittedOnce: (deposit) => providerCalls.resendSafetyOf(deposit).kind === 'never',
  }),

  providerCallsFor: (deposit) => ({
    provider: deposit.provider,
    resendSafety: providerCalls.resendSafetyOf(deposit),
    submit: (requestedAt, signal) => providerCalls.submit(deposit, requestedAt, signal),
    verify: (signal) => providerCalls.verify(deposit, signal),
  }),

  async apply({ tenantId, id }, report, origin) {
    const deposit = await deposits.get(tenantId, id);
    if (!deposit) return null;
    const fact = { ...toFact(report, origin), instruction };
    const outcome = await deposits.applyFact(deposit, fact);
    return outcome.kind === 'fact' ? outcome.deposit : null;
  },
});
