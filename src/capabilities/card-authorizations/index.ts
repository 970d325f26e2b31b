import { defineCapability } from '../../core/capability.js';
import { cardAuthorizationOperations } from './api.js';
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

/** The parts of card authorizations. */
export type Authorizations = ReturnType<typeof createAuthorizations>;

/** Creates the parts of card authorizations: real-time decisions, and the events that follow them. */
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

    /** Applies an issuer's event about a payment, also of one that was never requested. Repeats change nothing. */
    async applyAuthorizationState(notice: AuthorizationNotice) {
      const outcome = await store.applyState(notice);
      starter.notifyChangedSoon({ _id: authorizationId(notice.provider, notice.token) });
      return outcome;
    },
  };
}

/** The capability `card-authorizations`: real-time decisions on card payments, and the security settings of cards. */
export const cardAuthorizationCapability = defineCapability({
  name: 'card-authorizations',
  collections: [cardAuthorizations],
  operations: cardAuthorizationOperations,
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
