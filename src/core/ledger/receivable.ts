import type { Wallet } from './wallet.js';

/**
 * Divides incoming money: it pays the tenant's receivable first, and the rest becomes available. Both parts together are
 * the amount, and no more is repaid than the tenant owes.
 */
export function payReceivable(
  { receivableMinor }: Pick<Wallet, 'receivableMinor'>,
  amountMinor: bigint,
): { repaidMinor: bigint; restMinor: bigint } {
  const repaidMinor = receivableMinor < amountMinor ? receivableMinor : amountMinor;
  return { repaidMinor, restMinor: amountMinor - repaidMinor };
}

/** Divides an amount that the tenant has to give back: what is available pays it, and the rest is owed. */
export function payFromAvailable(
  { availableMinor }: Pick<Wallet, 'availableMinor'>,
  amountMinor: bigint,
): { paidMinor: bigint; owedMinor: bigint } {
  const mostMinor = availableMinor > 0n ? availableMinor : 0n;
  const paidMinor = mostMinor < amountMinor ? mostMinor : amountMinor;
  return { paidMinor, owedMinor: amountMinor - paidMinor };
}
