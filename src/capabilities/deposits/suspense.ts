import type { ProviderDeposit } from '../../core/providers/account-provider.js';
import { MAX_AMOUNT_MINOR } from '../../platform/http/wire.js';
import { hasBegun, type VirtualAccount } from '../virtual-accounts/record.js';
import type { Deposit, DepositMatch } from './record.js';

/** The conditions under which deposits are credited. */
export type DepositTerms = {
  /** Deposits above it are suspended. */
  maxMinor: bigint;
  /** True if the provider can send a deposit back. */
  returns: boolean;
};

type Arrived = {
  deposit: Pick<Deposit, 'assigned'>;
  account: VirtualAccount | null;
  terms: DepositTerms;
};

const TOO_MUCH = 'the account would receive more than is allowed';

/** True if the account's total would be above the largest integer that every JSON reader keeps: no list could show it. */
export const exceedsTotal = (
  { total_received_minor: total }: Pick<VirtualAccount, 'total_received_minor'>,
  amountMinor: bigint,
): boolean => total + amountMinor > BigInt(MAX_AMOUNT_MINOR);

/** The reason why a deposit is suspended, or null if it is credited. */
export function suspenseReason(
  { deposit, account, terms }: Arrived,
  told: Omit<ProviderDeposit, 'id'>,
): string | null {
  if (account === null) return 'nobody has this account';
  if (exceedsTotal(account, told.amountMinor)) return TOO_MUCH;
  if ((told.feeMinor ?? 0n) >= told.amountMinor)
    return 'the provider’s fee is as much as the deposit';
  // An operator has decided about its amount, its account and what was expected.
  if (deposit.assigned) return null;
  if (told.amountMinor > terms.maxMinor) return 'the amount is above the limit of a deposit';
  if (account.account_number !== told.accountNumber) {
    return 'the provider reports another account than its message';
  }
  const state = stateAtArrival(account, told.receivedAt);
  if (state !== 'active') return `the account is ${state}`;
  const isOther = account.amount_minor !== null && account.amount_minor !== told.amountMinor;
  return isOther && account.on_mismatch === 'return' ? MISMATCH : null;
}

/** The reason of suspense for another amount than the account's tenant wants: it is returned. */
export const MISMATCH = 'the amount is not the expected one';

/**
 * The state that the account had for money of this time. Money that the provider received before the tenant's closing was
 * accepted is not late, even if it is confirmed after that. Money from before the account was for whoever had its number then.
 */
function stateAtArrival(
  account: VirtualAccount,
  receivedAt: Date,
): VirtualAccount['state'] | 'newer than the deposit' {
  if (!hasBegun(account, receivedAt)) return 'newer than the deposit';
  const { state, instruction, instructed_at: closedFrom } = account;
  const isClosed = instruction === 'close' && (state === 'closing' || state === 'closed');
  return isClosed && receivedAt < closedFrom ? 'active' : state;
}

/** The relation of the money to what was expected of its account. */
export function matchOf(
  account: VirtualAccount | null,
  { amountMinor, receivedAt }: Omit<ProviderDeposit, 'id'>,
): DepositMatch {
  if (account === null) return 'unexpected';
  if (stateAtArrival(account, receivedAt) !== 'active') return 'late';
  const { amount_minor: expected } = account;
  if (expected === null) return 'unexpected';
  if (amountMinor === expected) return 'exact';
  return amountMinor < expected ? 'under' : 'over';
}
