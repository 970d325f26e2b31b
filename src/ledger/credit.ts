import { ApiError } from '../errors.js';
import { MAX_AMOUNT_MINOR } from '../money.js';
import type { GroupCommit } from './group-commit.js';

/**
 * Credits a wallet with money from outside, once per reference: a repeat answers the present balance, the same
 * reference with another amount is refused.
 */
export async function creditWallet(
  groupCommit: GroupCommit,
  credit: { tenant: string; amountMinor: bigint; reference: string },
): Promise<{ availableMinor: bigint }> {
  const { tenant, amountMinor, reference } = credit;
  if (amountMinor < 1n || amountMinor > MAX_AMOUNT_MINOR) {
    throw new ApiError('validation_error', { field: 'amount_minor' });
  }
  const id = `credit/${tenant}/${reference}`;
  const outcome = await groupCommit.commit({ kind: 'credit', tenant, id, amountMinor });
  if (outcome.kind === 'credit_conflict') {
    const message = 'This reference was used for another amount.';
    throw new ApiError('duplicate_reference', { field: 'reference', message });
  }
  return { availableMinor: outcome.availableMinor };
}
