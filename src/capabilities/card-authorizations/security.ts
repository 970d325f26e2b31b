import type { Mutation } from '../../core/commit/mutation.js';
import { changeCard } from '../cards/change.js';
import { cards, isTerminal, type Card, type CardSecurity } from '../cards/card.js';

export type SetCardSecurity = {
  tenantId: string;
  card: string;
  security: CardSecurity;
};
/** Null: no such card. `refused`: in its state nothing is paid with it any more. */
export type SetCardSecurityResult = { card: Card | null; refused: boolean };

/** In one commit with every decision on the card: a payment sees the old settings whole, or the new ones. */
export const setCardSecurity: Mutation<SetCardSecurity, SetCardSecurityResult> = {
  reads: ({ tenantId, card }) => ({ records: [cards.ref(card)], wallets: [tenantId] }),
  decide(uow, { tenantId, card: id, security }, now) {
    const card = uow.get(cards, id);
    if (card?.tenant_id !== tenantId) return { card: null, refused: false };
    if (isTerminal(card) || card.status === 'failed') {
      return { card, refused: true };
    }
    const next = changeCard(uow, card, { security }, now);
    return { card: next, refused: false };
  },
};
