import type { Client } from '@temporalio/client';
import type { Config } from './config.js';
import type { Database } from './database/client.js';
import type { GroupCommit } from './ledger/group-commit.js';
import type { Log } from './log.js';
import type { Providers } from './providers/registry.js';
import type { Watches } from './watch.js';

/** What every capability is made with; see deps.ts. */
export type Shared = {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  providers: Providers;
  watches: Watches;
  log: Log;
};
