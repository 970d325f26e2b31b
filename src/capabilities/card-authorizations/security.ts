import type { Mutation } from '../../core/commit/mutation.js';
import { changeCard } from '../cards/change.js';
import { isOver, type Card, type CardSecurity } from '../cards/card.js';

export type SetCardSecurity = {
  kind: 'setCardSecurity';
  tenantId: string;
  card: string;
  security: CardSecurity;
};
/** Null: no such card. `refused`: in its state nothing is paid with it any more. */
export type SetCardSecurityResult = { kind: 'card_security'; card: Card | null; refused: boolean };

/** In one commit with every decision on the card: a payment sees the old settings whole, or the new ones. */
export const setCardSecurity: Mutation<SetCardSecurity, SetCardSecurityResult> = {
  reads: ({ tenantId, card }) => ({ records: { cards: [card] }, wallets: [tenantId] }),
  decide(uow, { tenantId, card: id, security }, now) {
    const card = uow.record('cards', id);
    if (card?.tenant_id !== tenantId) return { kind: 'card_security', card: null, refused: false };
    if (isOver(card) || card.status === 'failed') {
      return { kind: 'card_security', card, refused: true };
    }
    const next = changeCard(uow, card, { security }, now);
    return { kind: 'card_security', card: next, refused: false };
  },
};
