import { defineCapability } from '../../core/capability.js';
import { authorizationOperations } from './api.js';
import { auditAuthorizations } from './audit.js';
import { cardAuthorizations, authorizationId } from './card-authorization.js';
import { cardAuthorizationRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import type { Client } from '@temporalio/client';
import type { Config } from '../../shared/config.js';
import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { Log } from '../../shared/log.js';
import type { Cards } from '../cards/store.js';
import { createDecisions } from './decisions.js';
import { createAuthorizationStarter } from './workflow-starter.js';
import { createAuthorizationStore, type AuthorizationNotice } from './store.js';

export type Authorizations = ReturnType<typeof createAuthorizations>;

/** Payments with cards: decided while somebody waits, and followed to their end. */
export function createAuthorizations(deps: {
  config: Pick<Config, 'cards' | 'temporal' | 'instructions'>;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  cards: Pick<Cards, 'findIssued'>;
  log: Log;
}) {
  const { config, database, groupCommit, client, cards, log } = deps;
  const { authorizationDeadlineMs: deadlineMs, authorizationHoldMs: holdMs } = config.cards;
  const { taskQueue } = config.temporal;
  const store = createAuthorizationStore(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createAuthorizationStarter({ client, taskQueue, log });
  return {
    store,
    starter,
    decisions: createDecisions({ store, cards, starter, deadlineMs, holdMs, log }),

    /** Books what the issuer says became of a payment, whether we knew of it or not. Repeats change nothing. */
    async applyAuthorizationState(notice: AuthorizationNotice) {
      const outcome = await store.applyState(notice);
      starter.notifyChangedSoon({ _id: authorizationId(notice.provider, notice.token) });
      return outcome;
    },
  };
}

/** The capability `card-authorizations`. */
export const cardAuthorizationCapability = defineCapability({
  name: 'card-authorizations',
  collections: [cardAuthorizations],
  operations: authorizationOperations,
  audit: auditAuthorizations,
  routes: cardAuthorizationRoutes,
  supervised: ({
    authorizations,
  }: {
    authorizations: Pick<Authorizations, 'store' | 'starter'>;
  }) => ({
    card_authorizations: supervised(authorizations.store, authorizations.starter),
  }),
});
