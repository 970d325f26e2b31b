import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { ProviderEventHandler } from '../../core/provider-events/handler.js';
import type { Database } from '../../platform/database/client.js';
import { isFunding } from '../cards/card-operation.js';
import {
  applyToOperation,
  createFindOwner,
  issuerEventHandler,
  type CardParts,
} from '../cards/index.js';
import { commitFundingFact } from './mutations.js';
import { fundingFactOf } from './transitions.js';

/** Applies the events of issuers to fundings. An issuer may confuse references: a funding of another card is not this one. */
export const fundingEventHandler = (deps: {
  database: Database;
  groupCommit: GroupCommit;
  cards: Pick<CardParts, 'operations' | 'starter'>;
}): ProviderEventHandler =>
  issuerEventHandler('funding', createFindOwner(deps.database), async (fact) => {
    const { operations, starter } = deps.cards;
    const { reference, tenantId, card } = fact;
    const found = reference === null ? null : await operations.get(tenantId, reference);
    const funding = found?.card_id === card && isFunding(found) ? found : null;
    return applyToOperation(operations, starter, funding, (operation) => {
      const reported = fundingFactOf(fact.state, fact.source);
      return reported && commitFundingFact(deps.groupCommit, operation, reported);
    });
  });
