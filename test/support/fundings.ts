import { cards, type Card, type AutoReload } from '../../src/capabilities/cards/record.js';
import {
  newOperation,
  operationReference,
  type CardOperation,
  type Funding,
} from '../../src/capabilities/cards/card-operation.js';
import { newId } from '../../src/shared/ids.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { CARD } from './card-record.js';
import { emptySnapshot, NOW } from './transfers.js';

/** The auto-reload settings of a card. */
export const reloadOf = (changes: Partial<AutoReload> = {}): AutoReload => ({
  enabled: true,
  threshold_minor: 100n,
  amount_minor: 500n,
  daily_cap_minor: 1_000n,
  triggered: false,
  operation_id: null,
  refusals: 0,
  attention: null,
  limit_day: '',
  limit_used_minor: 0n,
  ...changes,
});

/** A funding in the state after acceptance. */
export function pendingFunding(
  changes: Partial<Omit<CardOperation, 'timeline' | 'next_check_at'>> = {},
): Funding {
  const id = changes._id ?? newId('cardOperation');
  const name = changes.transaction_reference;
  const given = {
    _id: id,
    tenant_id: 'ten_a',
    card_id: CARD,
    type: 'fund',
    provider: 'sandbox-bank',
    amount_minor: 300n,
    ...(name && { reference: operationReference(CARD, name) }),
    ...changes,
  } as const;
  return newOperation(given, NOW, 'the amount is held in the wallet') as Funding;
}

/** A tenant with this balance in its wallet, and these cards. */
export function snapshotWith(availableMinor: bigint, ...owned: Card[]): Snapshot {
  const wallet = { ...emptyWallet('ten_a'), availableMinor };
  const snapshot = emptySnapshot();
  for (const card of owned) snapshot.records.set(cards, card);
  return { ...snapshot, wallets: new Map([['ten_a', wallet]]) };
}
