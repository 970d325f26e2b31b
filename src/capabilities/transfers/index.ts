import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { bankCapability, type BankParts } from '../banks/index.js';
import { transferOperations } from './api.js';
import { auditTransfers } from './audit.js';
import { transferMonthlyCounts } from './counts.js';
import { createTransferCreation } from './create.js';
import { presentTransfer, presentTransferRow } from './presenter.js';
import { transferEventHandler } from './provider-events.js';
import { transferRoutes } from './routes.js';
import { createTransfers } from './store.js';
import { transfers, type Transfer } from './transfer.js';
import { createTransferStarter } from './workflow-starter.js';
import { transferContract } from './workflow-contract.js';
import { transferEvents } from './webhook-events.js';

export { newTransfer } from './create.js';
export { transferBody, type TransferBody } from './schema.js';

/** The parts of transfers. */
type TransferParts = ReturnType<typeof createTransferParts>;

function createTransferParts(core: CoreDeps, { banks }: { banks: BankParts }) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const store = createTransfers(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createTransferStarter(starterSettings(core));
  return {
    store,
    starter,
    waiter: completionWaiters.create({ findEnded: (ids) => store.findEnded(ids) }),
    create: createTransferCreation({
      groupCommit,
      starter,
      nameEnquiry: banks.nameEnquiry,
      provider: providers.forTransfers.name,
    }),
    idle: starter.idle,
  };
}

/** The capability `transfers`. */
export const transferCapability = defineCapability({
  name: 'transfers',
  needs: { banks: bankCapability },
  collections: [transfers, transferMonthlyCounts],
  operations: transferOperations,
  events: transferEvents,
  audit: auditTransfers,
  create: createTransferParts,
  routes: transferRoutes,
  providerEvents: transferEventHandler,
  supervised: ({ transfers: { store, starter } }: { transfers: TransferParts }) => ({
    // After an outage many transfers have no workflow: those that nobody has started share micro-batches.
    transfers: supervised<Transfer>(store, {
      start: (due) => (due.status === 'pending' ? starter.startTogether(due) : starter.start(due)),
    }),
  }),
  instruction: {
    labels: transferContract.labels,
    records: (deps: { transfers: TransferParts }) => deps.transfers,
    presentRow: presentTransferRow,
    presentDetails: (transfer: Transfer) => presentTransfer(transfer),
  },
});
