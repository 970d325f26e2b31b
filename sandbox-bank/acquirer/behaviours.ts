import type { Behaviour } from '../shared/behaviours.js';
import type { Decline } from './records.js';

const PAGES = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['009', 'reported_out_of_order'],
  ['010', 'throttled_first'],
  ['014', 'another_amount'],
  ['015', 'paid_twice'],
  ['016', 'declined_first'],
  ['017', 'fee_later'],
  ['018', 'surcharged'],
  ['019', 'refunded_at_desk'],
  ['020', 'disputed'],
  ['021', 'dispute_won'],
  ['022', 'dispute_lost'],
  ['023', 'unknown_word'],
  ['024', 'event_elsewhere'],
]);

const CHARGES = new Map<string, Behaviour>([
  ...PAGES,
  ['002', 'refused'],
  ['003', 'declined_softly'],
  ['013', 'declined_softly_twice'],
  ['025', 'redirected'],
  ['026', 'redirected_in_vain'],
  ['029', 'method_revoked'],
]);

const REFUNDS = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['002', 'refused'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['009', 'reported_out_of_order'],
  ['010', 'throttled_first'],
  ['011', 'returned_later'],
  ['012', 'needs_account'],
  ['015', 'done_unreported'],
  ['016', 'listed_later'],
]);

const endOf = (clientReference: string) => clientReference.slice(-3);

/** Behaviours are chosen by the last three characters of the client's reference. */
export function pageBehaviour(clientReference: string): Behaviour {
  return PAGES.get(endOf(clientReference)) ?? 'done';
}

/** Falls back to `otherwise`, the behaviour of the payment method, if the reference chooses nothing. */
export function chargeBehaviour(clientReference: string, otherwise: Behaviour): Behaviour {
  return CHARGES.get(endOf(clientReference)) ?? otherwise;
}

/** The behaviour of a refund, chosen like that of a page. */
export function refundBehaviour(clientReference: string): Behaviour {
  return REFUNDS.get(endOf(clientReference)) ?? 'done';
}

/**
 * Returns the decline of a charge without the customer after `declinedBefore` declined attempts; null if it succeeds.
 */
export function declineOf(behaviour: Behaviour, declinedBefore: number): Decline | null {
  const lowFunds: Decline = { code: 'insufficient_funds', decline: 'soft' };
  if (behaviour === 'declined_softly') return lowFunds;
  if (behaviour === 'declined_softly_twice') return declinedBefore < 2 ? lowFunds : null;
  if (behaviour === 'declined_as_expired') return { code: 'expired_card', decline: 'hard' };
  if (behaviour === 'method_revoked') return { code: 'authorization_revoked', decline: 'hard' };
  return behaviour === 'refused' ? { code: 'card_declined', decline: 'hard' } : null;
}

/** Returns the amount that the customer pays; `another_amount` pays half, rounded up. */
export function paidMinor(behaviour: Behaviour, askedMinor: number): number {
  return behaviour === 'another_amount' ? Math.ceil(askedMinor / 2) : askedMinor;
}

const FEE_FLAT_FROM_MINOR = 250_000;
const FEE_FLAT_MINOR = 10_000;
const FEE_MOST_MINOR = 200_000;

/** The delay from a payment to its dispute, its refund at the desk or the payment of another page, and from there to what follows. */
export const NEXT_AFTER_MS = 3_000;

/** The time after which a refund that is listed later is in the list. */
export const LISTED_AFTER_MS = 10_000;

/** True if the customer has to confirm a charge on a page. */
export const isRedirected = (behaviour: Behaviour): boolean =>
  behaviour === 'redirected' || behaviour === 'redirected_in_vain';

/** Returns the surcharge that the customer pays on top of the amount, for the acquirer. */
export const surchargeMinor = (behaviour: Behaviour, paid: number): number =>
  behaviour === 'surcharged' ? feeMinor(paid) : 0;

/** The delay from a payment to its fee. */
export const FEE_AFTER_MS = 3_000;

/** Returns the acquirer's fee: 1.5 %, plus ₦100 from ₦2,500 on, at most ₦2,000. */
export function feeMinor(amountMinor: number): number {
  if (amountMinor > FEE_MOST_MINOR * 100) return FEE_MOST_MINOR;
  const share = Math.floor((amountMinor * 15) / 1_000);
  const flat = amountMinor >= FEE_FLAT_FROM_MINOR ? FEE_FLAT_MINOR : 0;
  return Math.min(share + flat, FEE_MOST_MINOR);
}
