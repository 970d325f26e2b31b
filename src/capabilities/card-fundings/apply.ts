import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { FundingState } from '../../core/providers/card-issuer.js';
import type { FactSource } from '../../core/instructions/fact.js';
import type { CardOperation } from '../cards/card-operation.js';
import type { FundingFact } from './transitions.js';
import { applyCardFundingFact, expireCardFunding, type CardFundingResult } from './mutations.js';

type FundingRef = Pick<CardOperation, 'tenant_id' | '_id' | 'card_id' | 'reverses_operation_id'>;

/** What an issuer says of a funding, as a fact; null while it says nothing final. */
export function fundingFactOf(state: FundingState, source: FactSource): FundingFact | null {
  switch (state.kind) {
    case 'pending':
      return null;
    case 'rejected':
      return { ...source, kind: 'rejected', code: state.code };
    default: {
      const kind = state.kind === 'funded' ? 'succeeded' : 'reversed';
      return { ...source, kind, amountMinor: state.amountMinor, sessionId: null };
    }
  }
}

/** Applies what became known of a funding, through the state guard. May be repeated, and comes in any order. */
export const commitFundingFact = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id,
    reverses_operation_id: reversesOperationId,
    card_id: card,
  }: FundingRef,
  fact: FundingFact,
): Promise<CardFundingResult> =>
  groupCommit.commit(applyCardFundingFact, {
    tenantId,
    id: reversesOperationId ?? _id,
    card,
    fact,
  });

/** Says that the deadline of a just-in-time funding has come. */
export const commitFundingExpiry = (
  groupCommit: GroupCommit,
  {
    tenant_id: tenantId,
    _id,
    reverses_operation_id: reversesOperationId,
    card_id: card,
  }: FundingRef,
): Promise<CardFundingResult> =>
  groupCommit.commit(expireCardFunding, { tenantId, id: reversesOperationId ?? _id, card });
