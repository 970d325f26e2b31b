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
import { fundingFactOf, fundReversalIdOf } from './transitions.js';

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
    const end = fundingFactOf(fact.state, fact.source);
    // A report that is not final proves that the issuer has the funding, also to its reversal.
    if (funding && !end) await operations.acknowledge(tenantId, fundReversalIdOf(funding._id));
    return applyToOperation(
      operations,
      starter,
      funding,
      (operation) => end && commitFundingFact(deps.groupCommit, operation, end),
    );
  });
