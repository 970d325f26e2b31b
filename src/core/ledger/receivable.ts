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
