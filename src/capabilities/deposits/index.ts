import { erasedRecords, isInstructionOpen } from '../../core/erasure/erased-records.js';
import { formatMajor } from '../../shared/money.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { forwardable } from '../../core/commit/mutation.js';
import {
  createInstructionStarter,
  starterSettings,
} from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { accountRateLimitKey } from '../../platform/temporal/queues.js';
import { virtualAccounts } from '../virtual-accounts/record.js';
import { virtualAccountCapability, type VirtualAccountParts } from '../virtual-accounts/index.js';
import { depositOperations } from './api.js';
import { auditDeposits } from './audit.js';
import { reconciledDeposits } from './comparison.js';
import { depositCounts, deposits, type Deposit, type DepositInstruction } from './record.js';
import { applyDepositFact, recordDeposit } from './mutations.js';
import { presentDepositDetails, presentDepositRow } from './presenter.js';
import { createDepositCalls, termsOf } from './provider-calls.js';
import { depositEventHandler } from './provider-events.js';
import { depositRoutes } from './routes.js';
import { createDepositSchedules } from './schedule.js';
import { createDeposits } from './store.js';
import { depositEvents } from './webhook-events.js';
import {
  depositConfirmationContract,
  depositReturnContract,
  depositWorkflowId,
} from './workflow-contract.js';

/** The parts of deposits. */
export type DepositParts = ReturnType<typeof createDepositParts>;

function createDepositParts(
  core: CoreDeps,
  { virtualAccounts }: { virtualAccounts: Pick<VirtualAccountParts, 'store'> },
) {
  const { config, database, groupCommit, providers } = core;
  const store = createDeposits(database, groupCommit, {
    stallTimeoutMs: config.instructions.stallTimeoutMs,
    termsOf: termsOf(providers, config.deposits.maxMinor),
  });
  const starter = createDepositStarter(core);
  const { store: accounts } = virtualAccounts;
  return {
    store,
    starter,
    providerCalls: createDepositCalls({ deposits: store, accounts, providers, starter }),
    schedules: createDepositSchedules({
      client: core.client,
      taskQueue: config.temporal.taskQueue,
      providers,
      settings: config.deposits,
    }),
    idle: starter.idle,
  };
}

/** Starts, wakes and commands the workflow of a deposit's present instruction. */
function createDepositStarter(core: CoreDeps) {
  const starterOf = (workflow: string) =>
    createInstructionStarter<Deposit, Pick<Deposit, '_id' | 'instruction'>>(starterSettings(core), {
      workflow,
      workflowId: depositWorkflowId,
      rateLimitKey: accountRateLimitKey,
      acceptedAt: ({ instructed_at: at }) => at,
      summary: ({ _id, amount_minor: amount, currency, provider }) =>
        `${_id}${amount === null ? '' : ` of ${currency} ${formatMajor(amount)}`} via ${provider}`,
    });
  const starters = {
    confirm: starterOf(depositConfirmationContract.type),
    return: starterOf(depositReturnContract.type),
  };
  const of = ({ instruction }: { instruction: DepositInstruction }) => starters[instruction];
  return {
    workflowId: (deposit: Deposit) => depositWorkflowId(deposit),
    start: async (deposit: Deposit) => of(deposit).start(deposit),
    startSoon: (deposit: Deposit) => of(deposit).startSoon(deposit),
    notifyChangedSoon: (deposit: Deposit) => of(deposit).notifyChangedSoon(deposit),
    command: async (...[deposit, kind, payload]: Parameters<typeof starters.confirm.command>) =>
      of(deposit).command(deposit, kind, payload),
    idle: async () =>
      void (await Promise.all(Object.values(starters).map((starter) => starter.idle()))),
  };
}

/** The capability `deposits`: money that arrives on virtual accounts. */
export const depositCapability = defineCapability({
  name: 'deposits',
  servedBy: 'virtual_accounts',
  needs: { virtualAccounts: virtualAccountCapability },
  mutations: forwardable({ recordDeposit, applyDepositFact }),
  collections: [deposits, depositCounts.counter],
  erased: [
    erasedRecords({
      collection: deposits,
      label: 'deposits that are not decided',
      by: { field: 'virtual_account_id', of: virtualAccounts },
      isOpen: (deposit) => isInstructionOpen(deposit) || deposit.state === 'suspended',
      erased: () => ({ sender: null, narration: null }),
    }),
  ],
  operations: depositOperations,
  events: depositEvents,
  audit: auditDeposits,
  create: createDepositParts,
  routes: depositRoutes,
  providerEvents: depositEventHandler,
  supervised: (deps: { deposits: DepositParts }) => ({
    deposits: supervised(deps.deposits.store, deps.deposits.starter),
  }),
  reconciled: reconciledDeposits,
  instruction: {
    labels: depositConfirmationContract.labels,
    records: (deps: { deposits: DepositParts }) => deps.deposits,
    presentRow: presentDepositRow,
    presentDetails: presentDepositDetails,
  },
});
