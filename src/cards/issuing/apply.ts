import type { GroupCommit } from '../../ledger/group-commit.js';
import type { IssueState } from '../../providers/card-issuer.js';
import type { FactOrigin } from '../../pursuits/facts.js';
import type { CardOperation } from '../operation.js';
import type { IssueFact } from './facts.js';
import type { IssueFactOutcome } from './items.js';

/** What an issuer says of a card, as a fact; null while it says nothing final. */
export function issueFactOf(state: IssueState, origin: FactOrigin): IssueFact | null {
  return state.kind === 'pending' ? null : { ...origin, ...state };
}

/** Applies what became known of a card's issuing, through the state guard. May be repeated, and comes in any order. */
export const applyIssueFact = (
  groupCommit: GroupCommit,
  { tenant, _id: id, card }: Pick<CardOperation, 'tenant' | '_id' | 'card'>,
  fact: IssueFact,
): Promise<IssueFactOutcome> => groupCommit.commit({ kind: 'issueFact', tenant, id, card, fact });
