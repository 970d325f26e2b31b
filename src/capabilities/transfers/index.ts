import { transferEvents, transferOperations } from './api.js';
import { auditTransfers } from './audit.js';
import { transferMonthlyCounts } from './counts.js';
import { transferEventHandler } from './provider-events.js';
import { transferRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import { transfers, type Transfer } from './transfer.js';
import type { TransferStarter } from './starter.js';
import type { Transfers } from './store.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { createBankList } from '../banks/bank-list.js';
import { createBulkTransferParts } from '../bulk-transfers/index.js';
import { createTransferCreation } from './create.js';
import { createNameEnquiry } from '../banks/name-enquiry.js';
import { createTransferStarter } from './starter.js';
import { createTransfers } from './store.js';

/** Everything that transfers are made of, one by one and in batches; a line in deps.ts. */
export function createTransferParts(deps: CoreDeps) {
  const { config, database, groupCommit, client, providers, completionWaiters, log } = deps;
  const { attentionAfterMs, pollMaxMs, stallTimeoutMs } = config.instructions;
  const { nameEnquiryTimeoutMs } = config.transfers;
  const transfers = createTransfers(database, groupCommit, stallTimeoutMs);
  const starter = createTransferStarter({
    client,
    taskQueue: config.temporal.taskQueue,
    policy: { attentionAfterMs, pollMaxMs },
    log,
  });
  const provider = providers.forTransfers;
  const nameEnquiry = createNameEnquiry(provider, nameEnquiryTimeoutMs);
  const accepting = { transfers, starter, nameEnquiry, provider: provider.name };
  return {
    transfers,
    transferWatch: completionWaiters.create({ findEnded: (ids) => transfers.findEnded(ids) }),
    starter,
    nameEnquiry,
    bankList: createBankList(provider),
    createTransfer: createTransferCreation(accepting),
    ...createBulkTransferParts({ ...deps, nameEnquiry, provider }),
  };
}

/** The capability `transfers`. */
export const transferCapability = defineCapability({
  name: 'transfers',
  collections: [transfers, transferMonthlyCounts],
  operations: transferOperations,
  events: transferEvents,
  audit: auditTransfers,
  routes: transferRoutes,
  providerEvents: transferEventHandler,
  supervised: ({
    transfers: store,
    starter,
  }: {
    transfers: Transfers;
    starter: TransferStarter;
  }) => ({
    // After an outage many transfers have no workflow: those that nobody has started share micro-batches.
    transfers: supervised<Transfer>(store, {
      start: (due) => (due.status === 'pending' ? starter.startTogether(due) : starter.start(due)),
    }),
  }),
});
