import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { ProviderEventOwner, StoredFact } from '../../core/provider-events/event.js';
import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  type Applied,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type {
  AuthorizationState,
  CardEvent,
  FundingState,
  IssueState,
} from '../../core/providers/card-issuer.js';
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

const UNKNOWN_CARD: Applied = {
  kind: 'unknown',
  reason: 'it is about no card of ours',
  ends: 'ignored',
};
const NOT_THERE: Applied = {
  kind: 'unknown',
  reason: 'it is about something that is not there',
  ends: 'failed',
};

/** Applies an issuer's events by the transition of their record, and notifies its workflow. */
export function cardEventHandler(deps: {
  database: Database;
  groupCommit: GroupCommit;
  cards: {
    operations: Pick<CardOperations, 'get' | 'issueOf'>;
    starter: Pick<CardOperationStarter, 'notifyChangedSoon'>;
  };
  cardAuthorizations: Pick<CardAuthorizationParts, 'applyAuthorizationState'>;
}): ProviderEventHandler {
  const { groupCommit, cardAuthorizations } = deps;
  const { operations, starter } = deps.cards;

  /** The funding of this card with this reference: an issuer may confuse references. */
  async function fundingOf(reference: string | null, { tenantId, card }: ProviderEventOwner) {
    const found = reference === null ? null : await operations.get(tenantId, reference);
    return found?.card_id === card && isFunding(found) ? found : null;
  }

  /** An operation that has ended and needs an operator now is started again at its next check. */
  async function toOperation(
    operation: CardOperation | null,
    commit: (operation: CardOperation) => Promise<{ verdict: string } | { kind: string }> | null,
  ): Promise<Applied> {
    if (!operation) return NOT_THERE;
    const committing = commit(operation);
    if (!committing) return NOTHING_TO_APPLY;
    const outcome = await committing;
    starter.notifyChangedSoon(operation);
    return applied('verdict' in outcome ? outcome.verdict : outcome.kind);
  }

  return {
    port: 'cards',
    subjects: ['card', 'funding', 'authorization'],
    findOwner: createFindOwner(deps.database),

    toFacts(event) {
      const { reference, card, state } = event as CardEvent;
      return [{ subject: state.subject, reference, issuer_card: card, state: state.state }];
    },

    async apply(fact, event) {
      const { tenant_id: tenantId, card_id: card, provider } = event;
      if (tenantId === null || card === null) return UNKNOWN_CARD;
      const source = sourceOf(event);
      const state = stateOf(fact);
      switch (state.subject) {
        case 'card':
          return toOperation(
            await operations.issueOf({ _id: card, tenant_id: tenantId }),
            (operation) => {
              const issuance = issuanceFactOf(state.state, source);
              return issuance && commitIssuanceFact(groupCommit, operation, issuance);
            },
          );
        case 'funding':
          return toOperation(await fundingOf(fact.reference, { tenantId, card }), (operation) => {
            const funding = fundingFactOf(state.state, source);
            return funding && commitFundingFact(groupCommit, operation, funding);
          });
        case 'authorization': {
          const { dedupe_key: key, occurred_at: at, received_at } = event;
          const { reference: token } = fact;
          if (token === null) return unknownAuthorization(state.state);
          const { verdict } = await cardAuthorizations.applyAuthorizationState({
            tenantId,
            card,
            provider,
            token,
            key,
            state: state.state,
            at: at ?? received_at,
          });
          return verdict === 'unknown_card' ? unknownAuthorization(state.state) : applied(verdict);
        }
      }
    },
  };
}

/** An authorization that we never decided and that moved no money changes nothing. */
const unknownAuthorization = ({ kind }: AuthorizationState): Applied => ({
  ...NOT_THERE,
  ends: kind === 'cleared' ? 'failed' : 'ignored',
});

/** Facts are stored as `toFacts` makes them, so that subject and state match. */
const stateOf = ({ subject, state }: OpenFact) =>
  ({ subject, state }) as
    | { subject: 'card'; state: IssueState }
    | { subject: 'funding'; state: FundingState }
    | { subject: 'authorization'; state: AuthorizationState };

/**
 * Finds the card of an issuer's message by our own reference, which exists before the issuer has anything, or by the
 * issuer's id of the card. An issuer's message counts for its own cards only.
 */
function createFindOwner({ db }: Database) {
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

  return async (
    provider: string,
    { reference, issuer_card: card }: StoredFact,
  ): Promise<ProviderEventOwner | null> => {
    const named = reference === null ? null : await byReference(provider, reference);
    if (named) return named;
    if (card) {
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
