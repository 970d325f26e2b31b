import { applied, type ProviderEventHandler } from '../../core/provider-events/handler.js';
import type { Database } from '../../platform/database/client.js';
import { createFindOwner, issuerEventHandler, NOT_THERE, type CardParts } from '../cards/index.js';
import { factOf } from './facts.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { CardDispute } from './record.js';
import type { CardDisputes } from './store.js';

/** Applies the events of issuers to disputes. Our reference there is the id of the operation that submitted the dispute. */
export const cardDisputeEventHandler = (deps: {
  database: Database;
  cards: Pick<CardParts, 'operations' | 'starter'>;
  cardDisputes: {
    store: Pick<CardDisputes, 'applyFacts'>;
    watch: Pick<WorkflowStarter<Pick<CardDispute, '_id'>>, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler =>
  issuerEventHandler('card_dispute', createFindOwner(deps.database), async (given) => {
    const { operations, starter } = deps.cards;
    const { reference, tenantId, card, state, source, event } = given;
    const operation = reference === null ? null : await operations.get(tenantId, reference);
    if (operation?.card_id !== card || operation.type !== 'dispute' || !operation.dispute_id) {
      return NOT_THERE;
    }
    const at = event.occurred_at ?? event.received_at;
    const dispute = { _id: operation.dispute_id, tenant_id: tenantId };
    const facts = [factOf(state, at)];
    const { verdict, withdrawal } = await deps.cardDisputes.store.applyFacts(dispute, {
      source,
      facts,
    });
    starter.notifyChangedSoon(operation);
    if (withdrawal) starter.notifyChangedSoon(withdrawal);
    deps.cardDisputes.watch.notifyChangedSoon(dispute);
    return applied(verdict);
  });
