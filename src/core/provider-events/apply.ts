import type { GroupCommit } from '../commit/group-commit.js';
import type { FactSource } from '../instructions/fact.js';
import { commitFundingFact } from '../../capabilities/card-fundings/mutations.js';
import { fundingFactOf } from '../../capabilities/card-fundings/transitions.js';
import type { Authorizations } from '../../capabilities/card-authorizations/index.js';
import { commitIssuanceFact } from '../../capabilities/cards/mutations.js';
import { issuanceFactOf } from '../../capabilities/cards/transitions.js';
import { isFunding, type CardOperation } from '../../capabilities/cards/card-operation.js';
import type { CardStarters } from '../../capabilities/cards/workflow-starter.js';
import type { CardOperations } from '../../capabilities/cards/store.js';
import type { ProviderEventOwner, ProviderEvent } from './event.js';

/** What the guard of an event's subject said; `not_there`: we have nothing of what it is about. */
export type Applied = { kind: 'applied'; outcome: string } | { kind: 'not_there' };

export type ApplyProviderEvent = (
  event: ProviderEvent,
  owner: ProviderEventOwner,
) => Promise<Applied>;

const NOT_THERE: Applied = { kind: 'not_there' };
const applied = (outcome: string): Applied => ({ kind: 'applied', outcome });
const NOTHING_TO_APPLY = applied('nothing_to_apply');

/** Books what an event says by the guard of its subject, and wakes who waits for it. Repeatable, in any order. */
export function createApplyProviderEvent(deps: {
  groupCommit: GroupCommit;
  cardOperations: Pick<CardOperations, 'get' | 'issueOf'>;
  cardStarters: Pick<CardStarters, 'notifyChangedSoon'>;
  authorizations: Pick<Authorizations, 'applyAuthorizationState'>;
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
