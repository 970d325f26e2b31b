import {
  ERASED_NAME,
  erasedRecords,
  isInstructionOpen,
} from '../../core/erasure/erased-records.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { forwardable } from '../../core/commit/mutation.js';
import {
  createInstructionStarter,
  starterSettings,
} from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { accountRateLimitKey } from '../../platform/temporal/queues.js';
import { customerCapability, type CustomerParts } from '../customers/index.js';
import { virtualAccountOperations } from './api.js';
import { auditVirtualAccounts } from './audit.js';
import { reconciledAccounts } from './comparison.js';
import { createVirtualAccountClosing, createVirtualAccountCreation } from './create.js';
import {
  acceptVirtualAccount,
  acceptVirtualAccountClosing,
  applyVirtualAccountFact,
} from './mutations.js';
import { presentAccountDetails, presentAccountRow } from './presenter.js';
import { createAccountCalls } from './provider-calls.js';
import { virtualAccountEventHandler } from './provider-events.js';
import { virtualAccountRoutes } from './routes.js';
import { createVirtualAccounts } from './store.js';
import {
  accountCounts,
  accountCustomers,
  virtualAccounts,
  type AccountInstruction,
  type VirtualAccount,
} from './record.js';
import { virtualAccountEvents } from './webhook-events.js';
import {
  accountAssignmentContract,
  accountClosingContract,
  accountWorkflowId,
} from './workflow-contract.js';

export { VIRTUAL_ACCOUNTS_TAG, virtualAccountParams } from './api.js';
export { withPageOrOffset } from './schema.js';
export type { VirtualAccounts } from './store.js';

/** The parts of virtual accounts. */
export type VirtualAccountParts = ReturnType<typeof createVirtualAccountParts>;

function createVirtualAccountParts(core: CoreDeps, { customers }: { customers: CustomerParts }) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const store = createVirtualAccounts(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createAccountStarter(core);
  return {
    store,
    starter,
    providerCalls: createAccountCalls({ accounts: store, providers }),
    waiter: completionWaiters.create({ findEnded: (owned) => store.findEnded(owned) }),
    create: createVirtualAccountCreation({
      customers: customers.store,
      groupCommit,
      starter,
      provider: providers.forVirtualAccounts,
      maxOpen: config.virtualAccounts.maxPerCustomer,
    }),
    close: createVirtualAccountClosing({ groupCommit, starter }),
    idle: starter.idle,
  };
}

/** Starts, wakes and commands the workflow of an account's present instruction. */
function createAccountStarter(core: CoreDeps) {
  const starterOf = (workflow: string, pay: string) =>
    createInstructionStarter<VirtualAccount, Pick<VirtualAccount, '_id' | 'instruction'>>(
      starterSettings(core),
      {
        workflow,
        workflowId: accountWorkflowId,
        rateLimitKey: accountRateLimitKey,
        acceptedAt: ({ instructed_at: at }) => at,
        summary: ({ _id, provider }) => `${pay} ${_id} via ${provider}`,
      },
    );
  const starters = {
    assign: starterOf(accountAssignmentContract.type, 'assign'),
    close: starterOf(accountClosingContract.type, 'close'),
  };
  const of = ({ instruction }: { instruction: AccountInstruction }) => starters[instruction];
  return {
    workflowId: (account: VirtualAccount) => accountWorkflowId(account),
    start: async (account: VirtualAccount) => of(account).start(account),
    startSoon: (account: VirtualAccount) => of(account).startSoon(account),
    notifyChangedSoon: (account: VirtualAccount) => of(account).notifyChangedSoon(account),
    command: async (...[account, kind, payload]: Parameters<typeof starters.assign.command>) =>
      of(account).command(account, kind, payload),
    idle: async () =>
      void (await Promise.all(Object.values(starters).map((starter) => starter.idle()))),
  };
}

/** The capability `virtual-accounts`: bank accounts of a tenant's customers, their assignment and their closing. */
export const virtualAccountCapability = defineCapability({
  name: 'virtual-accounts',
  servedBy: 'virtual_accounts',
  needs: { customers: customerCapability },
  mutations: forwardable({
    acceptVirtualAccount,
    acceptVirtualAccountClosing,
    applyVirtualAccountFact,
  }),
  collections: [virtualAccounts, accountCustomers, accountCounts.counter],
  erased: [
    erasedRecords({
      collection: virtualAccounts,
      label: 'virtual accounts that are not closed',
      by: { field: 'customer_id' },
      isOpen: (account) =>
        isInstructionOpen(account) || (account.state !== 'closed' && account.state !== 'failed'),
      erased: ({ face }) => ({
        'customer.email': null,
        'customer.name': null,
        'customer.phone': null,
        account_name: ERASED_NAME,
        ...(face && { 'face.accountName': ERASED_NAME }),
        metadata: null,
      }),
    }),
  ],
  operations: virtualAccountOperations,
  events: virtualAccountEvents,
  audit: auditVirtualAccounts,
  create: createVirtualAccountParts,
  routes: virtualAccountRoutes,
  providerEvents: virtualAccountEventHandler,
  supervised: (deps: { virtualAccounts: VirtualAccountParts }) => ({
    virtual_accounts: supervised(deps.virtualAccounts.store, deps.virtualAccounts.starter),
  }),
  reconciled: reconciledAccounts,
  instruction: {
    // The name of the command's argument, which is one word.
    labels: { ...accountAssignmentContract.labels, record: 'account' },
    records: (deps: { virtualAccounts: VirtualAccountParts }) => deps.virtualAccounts,
    presentRow: presentAccountRow,
    presentDetails: presentAccountDetails,
  },
});
