import type { GroupCommit } from '../../ledger/group-commit.js';
import type { FundingState } from '../../providers/card-issuer.js';
import type { FactOrigin } from '../../pursuits/facts.js';
import type { CardOperation } from '../operation.js';
import type { FundingFact } from './facts.js';
import type { FundingOutcome } from './items.js';

type Key = Pick<CardOperation, 'tenant' | '_id' | 'card' | 'unwinds'>;

/** What an issuer says of a funding, as a fact; null while it says nothing final. */
export function fundingFactOf(state: FundingState, origin: FactOrigin): FundingFact | null {
  switch (state.kind) {
    case 'pending':
      return null;
    case 'refused':
      return { ...origin, kind: 'refused', code: state.code };
    default: {
      const kind = state.kind === 'funded' ? 'paid' : 'reversed';
      return { ...origin, kind, amountMinor: state.amountMinor, sessionId: null };
    }
  }
}

/** Applies what became known of a funding, through the state guard. May be repeated, and comes in any order. */
export const applyFundingFact = (
  groupCommit: GroupCommit,
  { tenant, _id, unwinds, card }: Key,
  fact: FundingFact,
): Promise<FundingOutcome> =>
  groupCommit.commit({ kind: 'fundingFact', tenant, id: unwinds ?? _id, card, fact });

/** Says that the deadline of a just-in-time funding has come. */
export const expireFunding = (
  groupCommit: GroupCommit,
  { tenant, _id, unwinds, card }: Key,
): Promise<FundingOutcome> =>
  groupCommit.commit({ kind: 'expireFunding', tenant, id: unwinds ?? _id, card });
