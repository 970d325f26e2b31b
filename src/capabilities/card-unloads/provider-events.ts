import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { ProviderEventHandler } from '../../core/provider-events/handler.js';
import type { Database } from '../../platform/database/client.js';
import {
  applyToOperation,
  createFindOwner,
  issuerEventHandler,
  type CardParts,
} from '../cards/index.js';
import { commitUnloadFact } from './mutations.js';
import { unloadFactOf } from './transitions.js';

/** Applies the events of issuers to unloadings. */
export const unloadEventHandler = (deps: {
  database: Database;
  groupCommit: GroupCommit;
  cards: Pick<CardParts, 'operations' | 'starter'>;
}): ProviderEventHandler =>
  issuerEventHandler('unload', createFindOwner(deps.database), async (fact) => {
    const { operations, starter } = deps.cards;
    const { reference, tenantId, card } = fact;
    const found = reference === null ? null : await operations.get(tenantId, reference);
    const unload = found?.card_id === card && found.type === 'unload' ? found : null;
    return applyToOperation(operations, starter, unload, (operation) => {
      const reported = unloadFactOf(fact.state, fact.source);
      return reported && commitUnloadFact(deps.groupCommit, operation, reported);
    });
  });
