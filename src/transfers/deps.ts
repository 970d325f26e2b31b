import type { Client } from '@temporalio/client';
import type { Config } from '../config.js';
import type { Database } from '../database/client.js';
import type { GroupCommit } from '../ledger/group-commit.js';
import type { Log } from '../log.js';
import type { Providers } from '../providers/registry.js';
import type { Watches } from '../watch.js';
import { createBankList } from './bank-list.js';
import { bulkTransfers } from './bulk.js';
import { createTransferCreation } from './create.js';
import { createNameEnquiry } from './name-enquiry.js';
import { createTransferStarter } from './starter.js';
import { createTransfers } from './store.js';

/** Everything that transfers are made of, one by one and in batches; a line in deps.ts. */
export function createTransferParts(deps: {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  providers: Providers;
  watches: Watches;
  log: Log;
}) {
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
