import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { CardAuthorization } from './card-authorization.js';
import type { AuthorizationFact, FactKind } from './facts.js';
import type { LedgerDelta, Settlement } from './payers.js';

const STEPS: Record<FactKind, string> = {
  approved: 'hold',
  declined: 'release',
  expired: 'release',
  cleared: 'clear',
  reversed: 'reversal',
  refunded: 'refund',
  refund_reversed: 'refund-reversal',
  corrected: 'correction',
};

/** The name of a fact's posting. Repeated kinds are numbered, because they may occur several times. */
export function stepOf({ facts }: CardAuthorization, { kind }: AuthorizationFact): string {
  const count = facts.filter((known) => STEPS[known.kind] === STEPS[kind]).length;
  return count === 0 ? STEPS[kind] : `${STEPS[kind]}-${count + 1}`;
}

/** The posting of all movements that a fact causes; `settle` has divided them among the payers. */
export function deltaPosting(
  before: CardAuthorization,
  step: string,
  at: Date,
  { takenMinor, returnedMinor, settled }: LedgerDelta & { settled: Settlement },
): Posting {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = before;
  const { held_minor: held, held_wallet_minor: heldInWallet } = before;
  const { holds, cardMinor, walletMinor, receivableMinor } = settled;
  return posting(`${id}/${step}`, tenantId, at, [
    { account: accounts.cardHeld(card), amountMinor: holds.cardMinor - (held - heldInWallet) },
    { account: accounts.held(tenantId), amountMinor: holds.walletMinor - heldInWallet },
    { account: accounts.network(provider), amountMinor: takenMinor - returnedMinor },
    { account: accounts.cardAvailable(card), amountMinor: cardMinor },
    { account: accounts.available(tenantId), amountMinor: walletMinor },
    { account: accounts.receivable(tenantId), amountMinor: -receivableMinor },
  ]);
}
