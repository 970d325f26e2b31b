import { OPEN_SECURITY, type Card } from '../../src/cards/card.js';
import { NOW } from './transfers.js';

export const CARD = 'crd_a';

/** An active card as it is stored. */
export function openCard(changes: Partial<Card> = {}): Card {
  return {
    _id: CARD,
    tenant: 'ten_a',
    version: 1,
    customer_id: 'customer-7',
    type: 'virtual',
    funding: 'prepaid',
    currency: 'NGN',
    name: null,
    metadata: null,
    status: 'active',
    provider: 'sandbox-bank',
    issued: { card: 'card_1', brand: 'verve', last4: '4242', expiry_month: 11, expiry_year: 2029 },
    available_minor: 0n,
    held_minor: 0n,
    open_holds: 0,
    control: { wanted: 'open', number: 0, confirmed: 0, operation: null },
    security: OPEN_SECURITY,
    reload: null,
    spent: { day: '', minor: 0n },
    failure: null,
    created_at: NOW,
    updated_at: NOW,
    ...changes,
  };
}
