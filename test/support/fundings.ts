import type { Card, CardReload } from '../../src/cards/card.js';
import type { Funding } from '../../src/cards/funding/postings.js';
import { newOperation, operationReference, type CardOperation } from '../../src/cards/operation.js';
import { newId } from '../../src/ids.js';
import type { Snapshot } from '../../src/ledger/view.js';
import { emptyWallet } from '../../src/ledger/wallet.js';
import { CARD } from './card-record.js';
import { emptySnapshot, NOW } from './transfers.js';

export const reloadOf = (changes: Partial<CardReload> = {}): CardReload => ({
  enabled: true,
  threshold_minor: 100n,
  amount_minor: 500n,
  daily_cap_minor: 1_000n,
  used: false,
  operation: null,
  refusals: 0,
  attention: null,
  day: '',
  day_minor: 0n,
  ...changes,
});

/** A funding as acceptance makes it. */
export function pendingFunding(
  changes: Partial<Omit<CardOperation, 'timeline' | 'due_at'>> = {},
): Funding {
  const id = changes._id ?? newId('cardOperation');
  const name = changes.transaction_reference;
  const given = {
    _id: id,
    tenant: 'ten_a',
    card: CARD,
    type: 'fund',
    provider: 'sandbox-bank',
    amount_minor: 300n,
    ...(name && { reference: operationReference(CARD, name) }),
    ...changes,
  } as const;
  return newOperation(given, NOW, 'the amount is held in the wallet') as Funding;
}

/** A tenant with this much in its wallet, and cards. */
export function snapshotWith(availableMinor: bigint, ...cards: Card[]): Snapshot {
  const wallet = { ...emptyWallet('ten_a'), availableMinor };
  const snapshot = emptySnapshot();
  for (const card of cards) snapshot.records.cards.set(card._id, card);
  return { ...snapshot, wallets: new Map([['ten_a', wallet]]) };
}
