import type { Kind } from '../../ledger/kind.js';
import { changeCard } from '../change.js';
import { isOver, type Card, type CardSecurity } from '../card.js';

export type SecurityItem = {
  kind: 'setCardSecurity';
  tenant: string;
  card: string;
  security: CardSecurity;
};
/** Null: no such card. `refused`: in its state nothing is paid with it any more. */
export type SecurityOutcome = { kind: 'card_security'; card: Card | null; refused: boolean };

/** In one commit with every decision on the card: a payment sees the old settings whole, or the new ones. */
export const setCardSecurity: Kind<SecurityItem, SecurityOutcome> = {
  reads: ({ tenant, card }) => ({ records: { cards: [card] }, wallets: [tenant] }),
  decide(view, { tenant, card: id, security }, now) {
    const card = view.record('cards', id);
    if (card?.tenant !== tenant) return { kind: 'card_security', card: null, refused: false };
    if (isOver(card) || card.status === 'failed') {
      return { kind: 'card_security', card, refused: true };
    }
    const next = changeCard(view, card, { security }, now);
    return { kind: 'card_security', card: next, refused: false };
  },
};
