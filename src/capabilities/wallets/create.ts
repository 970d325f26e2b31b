import type { Act } from '../../core/audit/entry.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { ApiError } from '../../shared/errors.js';
import { MAX_AMOUNT_MINOR } from '../../shared/money.js';
import { applyCredit } from './mutations.js';

/**
 * Credits a wallet with money from outside, once per reference. A repeat returns the present balance; the same reference
 * with another amount is refused.
 */
export async function creditWallet(
  groupCommit: Pick<GroupCommit, 'commit'>,
  given: { tenantId: string; amountMinor: bigint; reference: string; act?: Act },
): Promise<{ availableMinor: bigint }> {
  const { tenantId, amountMinor, reference, act } = given;
  if (amountMinor < 1n || amountMinor > MAX_AMOUNT_MINOR) {
    const message = amountMinor < 1n ? 'must be at least 1' : `must be at most ${MAX_AMOUNT_MINOR}`;
    throw new ApiError('validation_error', { field: 'amount_minor', message });
  }
  const id = `credit/${tenantId}/${reference}`;
  const result = await groupCommit.commit(applyCredit, { tenantId, id, amountMinor, act });
  if (result.kind === 'credit_conflict') {
    const message = 'This reference was used for another amount.';
    throw new ApiError('duplicate_reference', { field: 'reference', message });
  }
  return { availableMinor: result.availableMinor };
}
