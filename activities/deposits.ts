import { Context } from '@temporalio/activity';
import type { Deposit, DepositInstruction } from '../src/capabilities/deposits/deposit.js';
import type { DepositCalls } from '../src/capabilities/deposits/provider-calls.js';
import { reconcileDepositPage } from '../src/capabilities/deposits/reconciliation.js';
import type { Deposits } from '../src/capabilities/deposits/store.js';
import type {
  DepositReconciliationInput,
  DepositReconciliationPosition,
} from '../src/capabilities/deposits/workflow-contract.js';
import type { VirtualAccounts } from '../src/capabilities/virtual-accounts/index.js';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { Providers } from '../src/core/providers/registry.js';
import type { Log } from '../src/shared/log.js';
import { providerActivities, type InstructionHandler } from './instructions.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of deposits need. */
export type DepositActivityDeps = {
  deposits: { store: Deposits; providerCalls: DepositCalls };
  virtualAccounts: { store: VirtualAccounts };
  providers: Pick<Providers, 'findAccountProvider'>;
  localSubmissions: LocalSubmissionLimiter;
  operatorActs: OperatorActs;
  log: Log;
};

const HEARTBEAT_MS = 3_000;

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
    async reconcileDeposits(
      input: DepositReconciliationInput & { position: DepositReconciliationPosition | null },
    ) {
      const context = Context.current();
      const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await reconcileDepositPage(deps, input);
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** A fact names its instruction: one that comes late from a confirmation must not end a return. */
const depositHandler = (
  {
    deposits: { store: deposits, providerCalls },
    localSubmissions,
    operatorActs,
    log,
  }: DepositActivityDeps,
  instruction: DepositInstruction,
): InstructionHandler<Deposit> => ({
  name: 'deposit',
  records: deposits,
  log,
  localSubmissions,
  operatorActs,
  capability: 'deposits',

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
