import type { Shared } from '../shared.js';
import { createBankList } from './bank-list.js';
import { bulkTransfers } from './bulk.js';
import { createTransferCreation } from './create.js';
import { createNameEnquiry } from './name-enquiry.js';
import { createTransferStarter } from './starter.js';
import { createTransfers } from './store.js';

/** Everything that transfers are made of, one by one and in batches; a line in deps.ts. */
export function createTransferParts(deps: Shared) {
  const { config, database, groupCommit, client, providers, watches, log } = deps;
  const { attentionAfterMs, pollMaxMs, nameEnquiryTimeoutMs, sweepSlackMs } = config.transfers;
  const transfers = createTransfers(database, groupCommit, sweepSlackMs);
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
    transferWatch: watches.create({ findEnded: (ids) => transfers.ended(ids) }),
    starter,
    nameEnquiry,
    bankList: createBankList(provider),
    createTransfer: createTransferCreation(accepting),
    ...bulkTransfers({ ...deps, nameEnquiry, provider }),
  };
}
