import {
  applied,
  type Applied,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { AuthorizationState } from '../../core/providers/card-issuer.js';
import type { Database } from '../../platform/database/client.js';
import { acrossTenants, onlyOne } from '../../platform/database/tenant-filters.js';
import { createFindOwner, endOfUnknown, issuerEventHandler, NOT_THERE } from '../cards/index.js';
import { authorizationId, type CardAuthorization } from './record.js';
import type { CardAuthorizationParts } from './index.js';

/** Applies the events of issuers to authorizations, also to those that were never requested here. */
export const authorizationEventHandler = (deps: {
  database: Database;
  cardAuthorizations: Pick<CardAuthorizationParts, 'applyAuthorizationState'>;
}): ProviderEventHandler =>
  issuerEventHandler(
    'authorization',
    createFindAuthorizationOwner(deps.database),
    async ({ tenantId, card, state, reference: token, event }) => {
      if (token === null) return unknownAuthorization(state);
      const { provider, occurred_at, received_at } = event;
      // A message with several reports has a time for each.
      const { at } = state as { at?: Date };
      const { verdict } = await deps.cardAuthorizations.applyAuthorizationState({
        tenantId,
        card,
        provider,
        token,
        state,
        at: at ?? occurred_at ?? received_at,
      });
      if (verdict === 'full') return FULL;
      return verdict === 'unknown_card' ? unknownAuthorization(state) : applied(verdict);
    },
  );

/** The event is kept, and an operator is called: a replay applies it once the bound is higher. */
const FULL = {
  kind: 'unknown',
  reason: 'its payment has more reports than are kept',
  ends: 'failed',
} as const satisfies Applied;

/** An authorization that we never decided and that moved no money changes nothing. */
const unknownAuthorization = (state: AuthorizationState): Applied => ({
  ...NOT_THERE,
  ends: endOfUnknown(state),
});

/** Finds the card of a message about a payment: by what the message says of the card, or by the payment's token. */
function createFindAuthorizationOwner(
  database: Database,
): NonNullable<ProviderEventHandler['findOwner']> {
  const findCardOwner = createFindOwner(database);
  const authorizations = database.db.collection<CardAuthorization>('card_authorizations');
  return async (provider, fact) => {
    const owner = await findCardOwner(provider, fact);
    if (owner || fact.reference === null) return owner;
    const found = await onlyOne(
      authorizations.find(
        { _id: authorizationId(provider, fact.reference) },
        { projection: { tenant_id: 1, card_id: 1 }, ...acrossTenants('look_up') },
      ),
    );
    return found && { tenantId: found.tenant_id, card: found.card_id };
  };
}
