import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { ENDED } from '../../core/instructions/listing.js';
import { archivedRecords } from '../../core/ledger/archive.js';
import { readWallet } from '../../core/ledger/balance.js';
import { supervisedInGroups } from '../../core/supervision/supervision.js';
import { bankCapability, type BankParts } from '../banks/index.js';
import { transferOperations } from './api.js';
import { auditTransfers } from './audit.js';
import { reconciledTransfers } from './comparison.js';
import { createEnquiries, createIntakeLimit, createTransferCreation } from './create.js';
import { createTransfers } from './store.js';
import { presentTransferDetails, presentTransferRow } from './presenter.js';
import { transferEventHandler } from './provider-events.js';
import { transferRoutes } from './routes.js';
import { createReconciliationSchedules } from './schedule.js';
import { transfers, type Transfer, transferMonthlyCounts, uncount } from './record.js';
import { createTransferStarter } from './workflow-starter.js';
import { transferContract } from './workflow-contract.js';
import { transferEvents } from './webhook-events.js';
import { acceptTransfer, applyTransferFact } from './mutations.js';

export {
  newTransfer,
  NO_NAME,
  type Enquiries,
  type IntakeLimit,
  type ReadTransfer,
} from './create.js';
export { transferBody, type TransferBody } from './schema.js';

/** The parts of transfers. */
export type TransferParts = ReturnType<typeof createTransferParts>;

function createTransferParts(core: CoreDeps, { banks }: { banks: BankParts }) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const store = createTransfers(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createTransferStarter(starterSettings(core));
  const intake = createIntakeLimit(database.db.collection<Transfer>('transfers'), {
    maxOpen: config.transfers.maxOpen,
    log: core.log,
  });
  const enquiries = createEnquiries({
    banks,
    readWallet: (tenantId) => readWallet(database, tenantId),
    takenReferences: (tenantId, references) => store.takenReferences(tenantId, references),
  });
  return {
    store,
    starter,
    waiter: completionWaiters.create({ findEnded: (owned) => store.findEnded(owned) }),
    enquiries,
    create: createTransferCreation({
      groupCommit,
      starter,
      enquiries,
      provider: providers.forTransfers,
      intake,
    }),
    intake,
    reconciliationSchedules: createReconciliationSchedules({
      client: core.client,
      taskQueue: config.temporal.taskQueue,
      providers,
      settings: config.reconciliation,
    }),
    idle: async () => void (await Promise.all([starter.idle(), intake.idle()])),
  };
}

/** The capability `transfers`. */
export const transferCapability = defineCapability({
  name: 'transfers',
  servedBy: 'transfers',
  mutations: forwardable({ acceptTransfer, applyTransferFact }),
  needs: { banks: bankCapability },
  collections: [transfers, transferMonthlyCounts],
  operations: transferOperations,
  events: transferEvents,
  audit: auditTransfers,
  archived: [
    archivedRecords({
      collection: transfers,
      ended: { status: { $in: ENDED }, in_suspense: false, next_check_at: null, attention: null },
      counts: { counter: transferMonthlyCounts, removed: uncount },
    }),
  ],
  create: createTransferParts,
  routes: transferRoutes,
  providerEvents: transferEventHandler,
  supervised: ({ transfers: { store, starter } }: { transfers: TransferParts }) => ({
    // After an outage many transfers have no workflow: those that nobody has started share micro-batches.
    transfers: supervisedInGroups<Transfer>(store, {
      groupsOf: starter.groupsOf,
      start: starter.startGroup,
    }),
  }),
  reconciled: reconciledTransfers,
  instruction: {
    labels: transferContract.labels,
    records: (deps: { transfers: TransferParts }) => deps.transfers,
    presentRow: presentTransferRow,
    presentDetails: presentTransferDetails,
  },
});
