import type { Client } from '@temporalio/client';
import type { Config } from '../../config.js';
import type { Database } from '../../database/client.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { Log } from '../../log.js';
import type { Cards } from '../store.js';
import { authorizationId } from './authorization.js';
import { createDecisions } from './decisions.js';
import { createAuthorizationStarter } from './starter.js';
import { createAuthorizationStore, type AuthorizationTold } from './store.js';

export type Authorizations = ReturnType<typeof createAuthorizations>;

/** Payments with cards: decided while somebody waits, and followed to their end. */
export function createAuthorizations(deps: {
  config: Pick<Config, 'cards' | 'temporal' | 'transfers'>;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  cards: Pick<Cards, 'findIssued'>;
  log: Log;
}) {
  const { config, database, groupCommit, client, cards, log } = deps;
  const { authorizationDeadlineMs: deadlineMs, authorizationHoldMs: holdMs } = config.cards;
  const { taskQueue } = config.temporal;
  const store = createAuthorizationStore(database, groupCommit, config.transfers.sweepSlackMs);
  const starter = createAuthorizationStarter({ client, taskQueue, log });
  return {
    store,
    starter,
    decisions: createDecisions({ store, cards, starter, deadlineMs, holdMs, log }),

    /** Books what the issuer says became of a payment, whether we knew of it or not. Repeats change nothing. */
    async applyAuthorizationState(told: AuthorizationTold) {
      const outcome = await store.applyState(told);
      starter.wakeSoon({ _id: authorizationId(told.provider, told.token) });
      return outcome;
    },
  };
}
