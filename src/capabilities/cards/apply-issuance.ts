import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { IssueState } from '../../core/providers/card-issuer.js';
import type { FactSource } from '../../core/instructions/fact.js';
import type { CardOperation } from './card-operation.js';
import type { IssuanceFact } from './transitions.js';
import { applyIssuanceFact, type ApplyIssuanceFactResult } from './mutations.js';

/** What an issuer says of a card, as a fact; null while it says nothing final. */
export function issuanceFactOf(state: IssueState, source: FactSource): IssuanceFact | null {
  return state.kind === 'pending' ? null : { ...source, ...state };
}

/** Applies what became known of a card's issuing, through the state guard. May be repeated, and comes in any order. */
export const commitIssuanceFact = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id: id,
    card_id: card,
  }: Pick<CardOperation, 'tenant_id' | '_id' | 'card_id'>,
  fact: IssuanceFact,
): Promise<ApplyIssuanceFactResult> =>
  groupCommit.commit(applyIssuanceFact, { tenantId, id, card, fact });
