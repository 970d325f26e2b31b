import { createAuthorizationState } from './authorization-state.js';
import type { CardRecord } from './records.js';
import { createCardState } from './card-state.js';
import type { JournalEffects } from '../shared/journal-effects.js';
import { createDisputeState } from './dispute-state.js';
import { createFundingState } from './funding-state.js';

/** The issuer's cards, fundings, authorizations and disputes. */
export type IssuerState = ReturnType<typeof createIssuerState>;

/** Holds the issuer's state. Only `apply` changes it, so a replay of the journal gives the same state. */
export function createIssuerState(effects: JournalEffects) {
  const cards = createCardState(effects);
  const fundings = createFundingState(effects);
  const authorizations = createAuthorizationState(effects, cards);
  const disputes = createDisputeState(effects);
  return {
    cards,
    fundings,
    authorizations,
    disputes,
    apply(record: CardRecord): void {
      if ('authorization' in record) authorizations.apply(record);
      else if ('cardDispute' in record) disputes.apply(record);
      else if ('funding' in record) fundings.apply(record);
      else cards.apply(record);
    },
  };
}
