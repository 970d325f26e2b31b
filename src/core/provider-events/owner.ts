import type { Database } from '../../platform/database/client.js';
import { isId } from '../../shared/ids.js';
import {
  authorizationId,
  type CardAuthorization,
} from '../../capabilities/card-authorizations/card-authorization.js';
import type { Card } from '../../capabilities/cards/card.js';
import type { CardOperation } from '../../capabilities/cards/card-operation.js';
import type { ProviderEventOwner } from './event.js';

export type FindOwner = (
  provider: string,
  event: { reference: string | null; issuer_card: string | null },
) => Promise<ProviderEventOwner | null>;

/**
 * Whose card an issuer speaks of: by our own reference, which we have before the issuer has anything, or by its id of
 * the card. An issuer speaks about its own cards only.
 */
export function createFindOwner({ db }: Database): FindOwner {
  const cards = db.collection<Card>('cards');
  const operations = db.collection<CardOperation>('card_operations');
  const authorizations = db.collection<CardAuthorization>('card_authorizations');
  const ofCard = (card: Pick<Card, '_id' | 'tenant_id'> | null) =>
    card && { tenantId: card.tenant_id, card: card._id };
  const ofRecord = (record: { tenant_id: string; card_id: string } | null) =>
    record && { tenantId: record.tenant_id, card: record.card_id };
  const projection = { tenant_id: 1, card_id: 1 } as const;

  async function byReference(
    provider: string,
    reference: string,
  ): Promise<ProviderEventOwner | null> {
    const own = { _id: reference, provider };
    if (isId('card', reference)) return ofCard(await cards.findOne(own, { projection }));
    if (!isId('cardOperation', reference)) return null;
    return ofRecord(await operations.findOne(own, { projection }));
  }

  return async (provider, { reference, issuer_card: card }) => {
    const named = reference === null ? null : await byReference(provider, reference);
    if (named) return named;
    if (card !== null) {
      const found = await cards.findOne(
        { provider, 'issued.issuer_card_id': card },
        { projection },
      );
      if (found) return ofCard(found);
    }
    if (reference === null) return null;
    const _id = authorizationId(provider, reference);
    return ofRecord(await authorizations.findOne({ _id }, { projection }));
  };
}
