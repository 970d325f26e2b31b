import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { FactSource } from '../../core/instructions/fact.js';
import type {
  Applied,
  ApplyProviderEvent,
  ProviderEventOwner,
  FindOwner,
  ProviderEvent,
} from '../../core/provider-events/event.js';
import type { Database } from '../../platform/database/client.js';
import { isId } from '../../shared/ids.js';
import {
  authorizationId,
  type CardAuthorization,
} from '../card-authorizations/card-authorization.js';
import type { CardAuthorizationParts } from '../card-authorizations/index.js';
import { commitFundingFact } from '../card-fundings/mutations.js';
import { fundingFactOf } from '../card-fundings/transitions.js';
import { commitIssuanceFact } from './mutations.js';
import { issuanceFactOf } from './transitions.js';
import type { Card } from './card.js';
import { isFunding, type CardOperation } from './card-operation.js';
import type { CardOperationStarter } from './index.js';
import type { CardOperations } from './store.js';

const NOT_THERE: Applied = { kind: 'not_there' };
const applied = (outcome: string): Applied => ({ kind: 'applied', outcome });
const NOTHING_TO_APPLY = applied('nothing_to_apply');

/** Applies an issuer's events by the transition of their record, and wakes its workflow. Repeatable, in any order. */
export function createApplyProviderEvent(deps: {
  groupCommit: GroupCommit;
  cardOperations: Pick<CardOperations, 'get' | 'issueOf'>;
  cardStarters: Pick<CardOperationStarter, 'notifyChangedSoon'>;
  authorizations: Pick<CardAuthorizationParts, 'applyAuthorizationState'>;
}): ApplyProviderEvent {
  const { groupCommit, cardOperations, cardStarters, authorizations } = deps;

  /** Of this card, and a funding: whatever an issuer may mix up. */
  async function fundingOf({ reference }: ProviderEvent, { tenantId, card }: ProviderEventOwner) {
    const found = reference === null ? null : await cardOperations.get(tenantId, reference);
    return found?.card_id === card && isFunding(found) ? found : null;
  }

  /** An operation that has ended and needs an operator now is brought back by its due date. */
  async function toOperation(
    operation: CardOperation | null,
    book: (operation: CardOperation) => Promise<{ verdict: string } | { kind: string }> | null,
  ): Promise<Applied> {
    if (!operation) return NOT_THERE;
    const booking = book(operation);
    if (!booking) return NOTHING_TO_APPLY;
    const outcome = await booking;
    cardStarters.notifyChangedSoon(operation);
    return applied('verdict' in outcome ? outcome.verdict : outcome.kind);
  }

  return async (event, { tenantId, card }) => {
    const { subject, state } = event.state;
    const source = sourceOf(event);
    switch (subject) {
      case 'card':
        return toOperation(
          await cardOperations.issueOf({ _id: card, tenant_id: tenantId }),
          (operation) => {
            const fact = issuanceFactOf(state, source);
            return fact && commitIssuanceFact(groupCommit, operation, fact);
          },
        );
      case 'funding':
        return toOperation(await fundingOf(event, { tenantId, card }), (operation) => {
          const fact = fundingFactOf(state, source);
          return fact && commitFundingFact(groupCommit, operation, fact);
        });
      case 'authorization': {
        const { provider, reference: token, dedupe_key: key, occurred_at: at, received_at } = event;
        if (token === null) return NOT_THERE;
        const told = { tenantId, card, provider, token, key, state, at: at ?? received_at };
        const { verdict } = await authorizations.applyAuthorizationState(told);
        return verdict === 'unknown_card' ? NOT_THERE : applied(verdict);
      }
    }
  };
}

const sourceOf = ({ _id, provider }: ProviderEvent): FactSource => ({
  via: 'webhook',
  actor: provider,
  providerRequestId: _id,
  note: null,
});

/**
 * Finds the card of an issuer's message by our own reference, which exists before the issuer has anything, or by the
 * issuer's id of the card. An issuer's message counts for its own cards only.
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
