import {
  NO_LOCKS,
  NO_UNLOAD,
  OPEN_SECURITY,
  type Card,
} from '../../src/capabilities/cards/record.js';
import { NOW } from './transfers.js';

/** The id of the card of `openCard`. */
export const CARD = 'crd_a';

/** An active card as MongoDB stores it. */
export function openCard(changes: Partial<Card> = {}): Card {
  return {
    _id: CARD,
    tenant_id: 'ten_a',
    version: 1,
    event_sequence: 0,
    customer_id: 'customer-7',
    type: 'virtual',
    funding: 'prepaid',
    currency: 'NGN',
    name: null,
    metadata: null,
    status: 'active',
    provider: 'sandbox-bank',
    issued: {
      issuer_card_id: 'card_1',
      brand: 'verve',
      last4: '4242',
      expiry_month: 11,
      expiry_year: 2029,
    },
    available_minor: 0n,
    held_minor: 0n,
    open_holds: 0,
    state_control: {
      desired: 'open',
      sequence: 0,
      confirmed_sequence: 0,
      pending_operation_id: null,
      doubted_at: null,
      reported_at: null,
    },
    locks: NO_LOCKS,
    state_sequence: 'issuer',
    security: OPEN_SECURITY,
    auto_reload: null,
    balances: 'issuer',
    unload: NO_UNLOAD,
    daily_spend: { day: '', minor: 0n },
    failure: null,
    created_at: NOW,
    updated_at: NOW,
    ...changes,
  };
}
