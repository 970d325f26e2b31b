import type { Wallet } from '../../core/ledger/wallet.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import { isPastExpiry, type Card, type CardStatus } from '../cards/card.js';

/** Why a payment with a card is declined, in our words; tenants see them too. */
const DECLINES = [
  'card_unknown',
  'card_not_active',
  'card_locked',
  'card_closed',
  'card_expired',
  'invalid_amount',
  'currency_not_supported',
  'channel_not_allowed',
  'country_not_allowed',
  'merchant_category_blocked',
  'per_transaction_limit_exceeded',
  'daily_limit_exceeded',
  'insufficient_balance',
  'deadline_exceeded',
  'service_unavailable',
] as const;
export type Decline = (typeof DECLINES)[number];

export type AuthorizationVerdict =
  | { approved: false; code: Decline }
  /** Which balance pays; see CardAuthorization. */
  | { approved: true; fundingSource: 'card' | 'wallet' };

type WalletBalances = Pick<Wallet, 'availableMinor'>;

/** All rules of a decision. Whatever is not clearly allowed is declined. */
export function evaluateAuthorization(
  card: Card,
  wallet: WalletBalances,
  request: AuthorizationRequest,
  now: Date,
): AuthorizationVerdict {
  const code =
    refusedByCard(card, now) ??
    refusedByRequest(card, request) ??
    refusedBySecurity(card, request, now);
  if (code) return { approved: false, code };
  // What is on the card is there to be spent, also on one that has the wallet behind it.
  if (card.available_minor >= request.amountMinor) return { approved: true, fundingSource: 'card' };
  const walletCovers = card.funding === 'jit' && wallet.availableMinor >= request.amountMinor;
  return walletCovers
    ? { approved: true, fundingSource: 'wallet' }
    : { approved: false, code: 'insufficient_balance' };
}

const BY_STATUS: Record<Exclude<CardStatus, 'active'>, Decline> = {
  pending: 'card_not_active',
  failed: 'card_not_active',
  locked: 'card_locked',
  closed: 'card_closed',
  expired: 'card_expired',
};

function refusedByCard(card: Card, now: Date): Decline | null {
  if (card.status !== 'active') return BY_STATUS[card.status];
  if (!card.issued) return 'card_not_active';
  return isPastExpiry(card, now) ? 'card_expired' : null;
}

function refusedByRequest(card: Card, { amountMinor, currency }: AuthorizationRequest) {
  if (currency !== card.currency) return 'currency_not_supported';
  return amountMinor < 1n ? 'invalid_amount' : null;
}

function refusedBySecurity(
  { security, daily_spend: spent }: Card,
  { amountMinor, channel, merchant }: AuthorizationRequest,
  now: Date,
): Decline | null {
  if (!security.channels[channel]) return 'channel_not_allowed';
  const { allowed_countries: countries, blocked_merchant_categories: blocked } = security;
  if (countries.length > 0 && !countries.includes(merchant.country)) return 'country_not_allowed';
  if (blocked.includes(merchant.category)) return 'merchant_category_blocked';
  const { per_transaction_limit_minor: each, daily_limit_minor: daily } = security;
  if (each !== null && amountMinor > each) return 'per_transaction_limit_exceeded';
  const used = spentOn(spent, lagosDay(now)).minor;
  return daily !== null && used + amountMinor > daily ? 'daily_limit_exceeded' : null;
}

/** What was approved on `day` so far; a day that is behind the stored one counts towards the stored one. */
export const spentOn = (spent: Card['daily_spend'], day: string): Card['daily_spend'] =>
  day > spent.day ? { day, minor: 0n } : spent;

/** Gives back to the day of the decision (negative: takes again): without effect when that day is over. */
export function restoreDailyLimit(
  spent: Card['daily_spend'],
  day: string,
  minor: bigint,
): Card['daily_spend'] {
  if (spent.day !== day) return spent;
  return { day, minor: spent.minor > minor ? spent.minor - minor : 0n };
}
