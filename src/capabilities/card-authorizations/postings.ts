import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import { type Allocation, type LedgerDelta } from './transitions.js';
import type { AuthorizationFact, CardAuthorization } from './card-authorization.js';

type HoldOwner = Pick<CardAuthorization, 'tenant_id' | 'card_id' | 'funding_source'>;

/** The account that an authorization's hold is taken from. */
const sourceAccount = ({ tenant_id: tenantId, card_id: card, funding_source: of }: HoldOwner) =>
  of === 'card' ? accounts.cardAvailable(card) : accounts.available(tenantId);

/** The account of an authorization's hold. */
const heldAccount = ({ tenant_id: tenantId, card_id: card, funding_source: of }: HoldOwner) =>
  of === 'card' ? accounts.cardHeld(card) : accounts.held(tenantId);

/** Available → held, on the card or in the wallet. */
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

/** The name of a fact's posting. Repeated kinds are numbered, because clearings and reversals may occur several times. */
export function stepOf({ facts }: CardAuthorization, { kind }: AuthorizationFact): string {
  const count = facts.filter((known) => known.kind === kind).length;
  return count === 0 ? STEPS[kind] : `${STEPS[kind]}-${count + 1}`;
}

/** The posting of all movements that a fact causes; `allocate` has divided the amount taken among its payers. */
export function deltaPosting(
  authorization: CardAuthorization,
  step: string,
  at: Date,
  delta: LedgerDelta & { allocation: Allocation; repaidMinor: bigint; backMinor: bigint },
): Posting {
  const { _id: id, tenant_id: tenantId, card_id: card, provider } = authorization;
  const { releasedMinor, takenMinor, returnedMinor, allocation, repaidMinor, backMinor } = delta;
  return posting(`${id}/${step}`, tenantId, at, [
    { account: heldAccount(authorization), amountMinor: -releasedMinor },
    { account: accounts.network(provider), amountMinor: takenMinor - returnedMinor },
    { account: accounts.cardAvailable(card), amountMinor: -allocation.cardMinor },
    { account: accounts.available(tenantId), amountMinor: -allocation.walletMinor },
    {
      account: accounts.receivable(tenantId),
      amountMinor: repaidMinor - allocation.receivableMinor,
    },
    { account: sourceAccount(authorization), amountMinor: backMinor },
  ]);
}
