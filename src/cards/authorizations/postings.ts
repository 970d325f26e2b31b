import { accounts, posting, type Posting } from '../../ledger/posting.js';
import type { Movement, Payment } from './facts.js';
import type { AuthorizationFact, CardAuthorization } from './authorization.js';

type Whose = Pick<CardAuthorization, 'tenant' | 'card' | 'held_of'>;

/** Where an authorization's hold comes from, and where it stands. */
const sourceOf = ({ tenant, card, held_of: of }: Whose) =>
  of === 'prepaid' ? accounts.cardAvailable(card) : accounts.available(tenant);
const heldOf = ({ tenant, card, held_of: of }: Whose) =>
  of === 'prepaid' ? accounts.cardHeld(card) : accounts.held(tenant);

/** Available → held, of the card or of the wallet. */
export function holdPosting(authorization: CardAuthorization): Posting {
  const { _id: id, tenant, amount_minor: amount, created_at: at } = authorization;
  return posting(`${id}/hold`, tenant, at, [
    { account: sourceOf(authorization), amountMinor: -amount },
    { account: heldOf(authorization), amountMinor: amount },
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
export function movementPosting(
  authorization: CardAuthorization,
  step: string,
  at: Date,
  moved: Movement & { payment: Payment; repaidMinor: bigint; backMinor: bigint },
): Posting {
  const { _id: id, tenant, card, provider } = authorization;
  const { releasedMinor, takenMinor, returnedMinor, payment, repaidMinor, backMinor } = moved;
  return posting(`${id}/${step}`, tenant, at, [
    { account: heldOf(authorization), amountMinor: -releasedMinor },
    { account: accounts.network(provider), amountMinor: takenMinor - returnedMinor },
    { account: accounts.cardAvailable(card), amountMinor: -payment.cardMinor },
    { account: accounts.available(tenant), amountMinor: -payment.walletMinor },
    { account: accounts.receivable(tenant), amountMinor: repaidMinor - payment.owedMinor },
    { account: sourceOf(authorization), amountMinor: backMinor },
  ]);
}
