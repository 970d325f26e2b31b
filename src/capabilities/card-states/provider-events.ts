import type { GroupCommit } from '../../core/commit/group-commit.js';
import { applied, type ProviderEventHandler } from '../../core/provider-events/handler.js';
import type { Database } from '../../platform/database/client.js';
import { createFindOwner, issuerEventHandler } from '../cards/index.js';
import { applyReportedState } from './locks.js';

/** Applies the changes of cards that their issuers report. */
export const cardStateEventHandler = (deps: {
  database: Database;
  groupCommit: GroupCommit;
}): ProviderEventHandler =>
  issuerEventHandler('card_state', createFindOwner(deps.database), async (fact) => {
    const { tenantId, card, state, event } = fact;
    const at = event.occurred_at ?? event.received_at;
    const input = { tenantId, card, state, at };
    return applied((await deps.groupCommit.commit(applyReportedState, input)).verdict);
  });
