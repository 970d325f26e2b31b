import type { Client } from '@temporalio/client';
import type { Config } from '../shared/config.js';
import type { Database } from '../platform/database/client.js';
import type { GroupCommit } from './commit/group-commit.js';
import type { Log } from '../shared/log.js';
import type { Providers } from './providers/registry.js';
import type { CompletionWaiters } from '../shared/completion-waiter.js';

/** What every capability is made with; see deps.ts. */
export type CoreDeps = {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  providers: Providers;
  completionWaiters: CompletionWaiters;
  log: Log;
};
