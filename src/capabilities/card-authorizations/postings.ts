import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { LedgerDelta, Payment } from './balance.js';
import type { AuthorizationFact, CardAuthorization } from './card-authorization.js';

type HoldOwner = Pick<CardAuthorization, 'tenant_id' | 'card_id' | 'funding_source'>;

/** Where an authorization's hold comes from, and where it stands. */
const sourceAccount = ({ tenant_id: tenantId, card_id: card, funding_source: of }: HoldOwner) =>
  of === 'card' ? accounts.cardAvailable(card) : accounts.available(tenantId);
const heldAccount = ({ tenant_id: tenantId, card_id: card, funding_source: of }: HoldOwner) =>
  of === 'card' ? accounts.cardHeld(card) : accounts.held(tenantId);

/** Available → held, of the card or of the wallet. */
export function holdPosting(authorization: CardAuthorization): Posting {
  const { _id: id, tenant_id: tenantId, amount_minor: amount, created_at: at } = authorization;
  return posting(`${id}/hold`, tenantId, at, [
    { account: sourceAccount(authorization), amountMinor: -amount },
    { account: heldAccount(authorization), amountMinor: amount },
  ]);
}

const STEPS: Record<AuthorizationFact['kind'], string> = {
  declined: 'release',
  expired: 'release',
  cleared: 'clear',
  reversed: 'reversal',
};

/** The name of the posting that a fact makes: clearings and reversals may come several times. */
export function stepOf({ facts }: CardAuthorization, { kind }: AuthorizationFact): string {
  const count = facts.filter((known) => known.kind === kind).length;
  return count === 0 ? STEPS[kind] : `${STEPS[kind]}-${count + 1}`;
}

/** Everything that a fact can move, in one posting; see payFrom for who pays. */
export function deltaPosting(
  authorization: CardAuthorization,
  step: string,
  at: Date,
  delta: LedgerDelta & { payment: Payment; repaidMinor: bigint; backMinor: bigint },
): Posting {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = authorization;
  const { releasedMinor, takenMinor, returnedMinor, payment, repaidMinor, backMinor } = delta;
  return posting(`${id}/${step}`, tenantId, at, [
    { account: heldAccount(authorization), amountMinor: -releasedMinor },
    { account: accounts.network(provider), amountMinor: takenMinor - returnedMinor },
    { account: accounts.cardAvailable(card), amountMinor: -payment.cardMinor },
    { account: accounts.available(tenantId), amountMinor: -payment.walletMinor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor - payment.owedMinor },
    { account: sourceAccount(authorization), amountMinor: backMinor },
  ]);
}
