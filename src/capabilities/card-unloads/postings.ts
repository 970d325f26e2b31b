import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import type { Card } from '../cards/record.js';
import type { CardOperation, Funding } from '../cards/card-operation.js';
import type { UnloadMovement } from './transitions.js';

/** Card available → card held, when the balance is to be unloaded. */
export function unloadHoldPosting(operation: Funding, at: Date): Posting {
  const { _id: id, tenant_id: tenantId, card_id: card, amount_minor: amountMinor } = operation;
  return posting(`${id}/hold`, tenantId, at, [
    { account: accounts.cardAvailable(card), amountMinor: -amountMinor },
    { account: accounts.cardHeld(card), amountMinor },
  ]);
}

/** The changes of the wallet that a movement causes (negative: decreases). */
type WalletChange = Pick<Wallet, 'availableMinor' | 'receivableMinor'>;

/**
 * The posting of a movement of an unloading, and its effect on the wallet. The receivable is paid first; a wallet that
 * lacks what the issuer takes again owes it. `surplusMinor` was given back beyond the balance of the card: suspense.
 */
export function unloadPosting(
  { _id: id, tenant_id: tenantId, card_id: card, provider }: CardOperation,
  { step, heldMinor, cardMinor, walletMinor }: UnloadMovement,
  surplusMinor: bigint,
  at: Date,
  wallet: Wallet,
): { posting: Posting; change: WalletChange } {
  const change = walletMinor < 0n ? take(wallet, -walletMinor) : give(wallet, walletMinor);
  return {
    posting: posting(`${id}/${step}`, tenantId, at, [
      { account: accounts.cardHeld(card), amountMinor: heldMinor },
      { account: accounts.cardAvailable(card), amountMinor: cardMinor },
      { account: accounts.available(tenantId), amountMinor: change.availableMinor },
      { account: accounts.receivable(tenantId), amountMinor: -change.receivableMinor },
      { account: accounts.clearing(provider), amountMinor: -surplusMinor },
      { account: accounts.suspense, amountMinor: surplusMinor },
    ]),
    change,
  };
}

function give(wallet: Wallet, amountMinor: bigint): WalletChange {
  const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor);
  return { availableMinor: restMinor, receivableMinor: -repaidMinor };
}

function take({ availableMinor }: Wallet, amountMinor: bigint): WalletChange {
  const paidMinor = amountMinor < availableMinor ? amountMinor : availableMinor;
  return { availableMinor: -paidMinor, receivableMinor: amountMinor - paidMinor };
}

/** The changes of the card by a movement. */
export const movedCard = (
  { available_minor: availableMinor, held_minor: heldMinor }: Card,
  movement: UnloadMovement,
): Pick<Card, 'available_minor' | 'held_minor'> => ({
  available_minor: availableMinor + movement.cardMinor,
  held_minor: heldMinor + movement.heldMinor,
});
