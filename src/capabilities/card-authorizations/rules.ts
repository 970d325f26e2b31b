import type { Wallet } from '../../core/ledger/wallet.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import { isPastExpiry, type Card, type CardStatus } from '../cards/record.js';

/** The codes of our declines. Tenants see them; docs/guide/using-cards.md lists them. */
export const DECLINES = [
  'card_unknown',
  'cards_disabled',
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
  'already_ended',
  'deadline_exceeded',
  'service_unavailable',
] as const;
/** A code of a decline. */
export type Decline = (typeof DECLINES)[number];

/** The decision on an authorization request. */
export type AuthorizationVerdict = { approved: false; code: Decline } | Approval;

/** An approval: the balance and the amount that are held, and the amount that is approved. */
type Approval = {
  approved: true;
  fundingSource: 'card' | 'wallet';
  approvedMinor: bigint;
  holdMinor: bigint;
  /** The hold that the issuer has for it. */
  issuerHoldMinor: bigint;
  /** The balance that can be spent, for a balance inquiry; otherwise null. */
  availableMinor: bigint | null;
};

type WalletBalances = Pick<Wallet, 'availableMinor'>;

/**
 * Decides an authorization request: by the card's status, the request itself, the card's security settings, and the
 * balances. The first rule that declines gives the code. A verification, a balance inquiry and a credit hold nothing: no
 * balance can decline them. Where the merchant takes less, as much is approved as there is. `approvedMinor` is the sum of what was approved of the same payment, which its limit includes.
 */
export function evaluateAuthorization(
  card: Card,
  wallet: WalletBalances,
  request: AuthorizationRequest,
  now: Date,
  approvedMinor = 0n,
): AuthorizationVerdict {
  const isCredit = request.kind === 'credit';
  const code =
    (isCredit ? refusedToReceive(card) : refusedByCard(card, now)) ??
    refusedByRequest(card, request) ??
    (isCredit ? null : refusedBySecurity(card, request, approvedMinor, now));
  if (code) return { approved: false, code };
  const walletMinor = card.funding === 'jit' ? wallet.availableMinor : 0n;
  if (HOLDS_NOTHING.has(request.kind)) {
    const isInquiry = request.kind === 'balance_inquiry';
    const most = card.available_minor > walletMinor ? card.available_minor : walletMinor;
    const availableMinor = isInquiry ? most : null;
    return { ...NOTHING_HELD, availableMinor };
  }
  return approveFrom(card.available_minor, walletMinor, stepOf(request, approvedMinor));
}

const HOLDS_NOTHING: ReadonlySet<AuthorizationRequest['kind']> = new Set([
  'verification',
  'balance_inquiry',
  'credit',
]);

const NOTHING_HELD = {
  approved: true,
  fundingSource: 'card',
  approvedMinor: 0n,
  holdMinor: 0n,
  issuerHoldMinor: 0n,
} as const;

type Step = { amountMinor: bigint; holdMinor: bigint; partialApproval: boolean };

/** The amount that a request adds to its payment, and what it holds. */
function stepOf(request: AuthorizationRequest, approvedMinor: bigint): Step {
  const { amountMinor: asked, basis, holdMinor, partialApproval } = request;
  const rest = asked > approvedMinor ? asked - approvedMinor : 0n;
  const amountMinor = basis === 'total' ? rest : asked;
  return { amountMinor, holdMinor: holdMinor ?? amountMinor, partialApproval };
}

/** The balance of the card is spent first, also for a card of type `jit`. One balance holds the whole amount. */
function approveFrom(
  cardMinor: bigint,
  walletMinor: bigint,
  { amountMinor, holdMinor, partialApproval }: Step,
): AuthorizationVerdict {
  const hold = { holdMinor, issuerHoldMinor: holdMinor };
  const approval = { approved: true, approvedMinor: amountMinor, ...hold } as const;
  if (cardMinor >= holdMinor) return { ...approval, fundingSource: 'card', availableMinor: null };
  if (walletMinor >= holdMinor) {
    return { ...approval, fundingSource: 'wallet', availableMinor: null };
  }
  const fundingSource = cardMinor >= walletMinor ? 'card' : 'wallet';
  const most = fundingSource === 'card' ? cardMinor : walletMinor;
  if (!partialApproval || most === 0n) return { approved: false, code: 'insufficient_balance' };
  const partMinor = most < amountMinor ? most : amountMinor;
  return {
    approved: true,
    fundingSource,
    approvedMinor: partMinor,
    holdMinor: partMinor,
    // The issuer holds what it asked for, unless less was approved.
    issuerHoldMinor: partMinor === amountMinor ? holdMinor : partMinor,
    availableMinor: null,
  };
}

/** A card that can never pay again, or not yet, receives nothing. */
const refusedToReceive = ({ status }: Card): Decline | null =>
  status === 'active' || status === 'locked' ? null : BY_STATUS[status];

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

function refusedByRequest(
  card: Card,
  { amountMinor, currency }: AuthorizationRequest,
): Decline | null {
  if (currency !== card.currency) return 'currency_not_supported';
  return amountMinor < 0n ? 'invalid_amount' : null;
}

function refusedBySecurity(
  { security, daily_spend: spent }: Card,
  request: AuthorizationRequest,
  approvedMinor: bigint,
  now: Date,
): Decline | null {
  const { channel, merchant } = request;
  if (!security.channels[channel]) return 'channel_not_allowed';
  const { allowed_countries: countries, blocked_merchant_categories: blocked } = security;
  if (countries.length > 0 && !countries.includes(merchant.country)) return 'country_not_allowed';
  if (blocked.includes(merchant.category)) return 'merchant_category_blocked';
  const { per_transaction_limit_minor: each, daily_limit_minor: daily } = security;
  const step = stepOf(request, approvedMinor).amountMinor;
  if (each !== null && approvedMinor + step > each) return 'per_transaction_limit_exceeded';
  const used = dailySpendOn(spent, lagosDay(now)).minor;
  return daily !== null && used + step > daily ? 'daily_limit_exceeded' : null;
}

/** The amount approved on `day`. A day before the stored one, from a clock behind, counts towards the stored one. */
export const dailySpendOn = (spent: Card['daily_spend'], day: string): Card['daily_spend'] =>
  day > spent.day ? { day, minor: 0n } : spent;

/** The day whose limit an approval at this time uses. */
export const spendingDay = (spent: Card['daily_spend'], now: Date): string =>
  dailySpendOn(spent, lagosDay(now)).day;

/** Restores a part of the limit of the stored day (negative: uses more of it). */
export const restoreDailyLimit = (
  { day, minor: spentMinor }: Card['daily_spend'],
  minor: bigint,
): Card['daily_spend'] => ({ day, minor: spentMinor > minor ? spentMinor - minor : 0n });

/** Uses this much of the daily limit. */
export function addDailySpend(
  spent: Card['daily_spend'],
  now: Date,
  minor: bigint,
): Card['daily_spend'] {
  const current = dailySpendOn(spent, lagosDay(now));
  return { ...current, minor: current.minor + minor };
}

/** The amounts by which a clearing may exceed what was approved, such as a tip, without a call for an operator. */
export type Tolerance = { overClearingPercent: number; overClearingMinor: bigint };

/** True if more was cleared than approved, by more than the tolerated share or the tolerated amount. */
export function isOverCleared(
  { clearedMinor, approvedMinor }: { clearedMinor: bigint; approvedMinor: bigint },
  { overClearingPercent: percent, overClearingMinor }: Tolerance,
): boolean {
  const over = clearedMinor - approvedMinor;
  return over * 100n > approvedMinor * BigInt(percent) || over > overClearingMinor;
}
