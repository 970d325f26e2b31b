import { ApiError } from '../../shared/errors.js';
import { MAX_AMOUNT_MINOR } from '../../shared/money.js';
import type { GroupCommit } from '../commit/group-commit.js';
import type { Mutation } from '../commit/mutation.js';
import { accounts, posting } from './posting.js';
import { payReceivable } from './receivable.js';
import type { UnitOfWork } from '../commit/unit-of-work.js';

export type ApplyCredit = { tenantId: string; id: string; amountMinor: bigint };
export type CreditResult =
  { kind: 'credited'; availableMinor: bigint } | { kind: 'credit_conflict' };

export const applyCredit: Mutation<ApplyCredit, CreditResult> = {
  reads: ({ tenantId, id }) => ({ postings: [id], wallets: [tenantId] }),
  decide: decideCredit,
};

/** Money from outside: what the tenant owes is taken first, the rest becomes available. Once per posting id. */
function decideCredit(uow: UnitOfWork, item: ApplyCredit, now: Date): CreditResult {
  const wallet = uow.wallet(item.tenantId);
  const earlier = uow.posting(item.id);
  if (earlier) {
    const moved = earlier.legs.find((leg) => leg.account === accounts.external)?.amountMinor;
    return moved === -item.amountMinor
      ? { kind: 'credited', availableMinor: wallet.availableMinor }
      : { kind: 'credit_conflict' };
  }
  const { repaidMinor, restMinor } = payReceivable(wallet, item.amountMinor);
  const availableMinor = wallet.availableMinor + restMinor;
  uow.post(
    posting(item.id, item.tenantId, now, [
      { account: accounts.external, amountMinor: -item.amountMinor },
      { account: accounts.receivable(item.tenantId), amountMinor: repaidMinor },
      { account: accounts.available(item.tenantId), amountMinor: restMinor },
    ]),
  );
  uow.changeWallet({ ...wallet, availableMinor, owedMinor: wallet.owedMinor - repaidMinor });
  return { kind: 'credited', availableMinor };
}

/**
 * Credits a wallet with money from outside, once per reference: a repeat answers the present balance, the same
 * reference with another amount is refused.
 */
export async function creditWallet(
  groupCommit: Pick<GroupCommit, 'commit'>,
  given: { tenantId: string; amountMinor: bigint; reference: string },
): Promise<{ availableMinor: bigint }> {
  const { tenantId, amountMinor, reference } = given;
  if (amountMinor < 1n || amountMinor > MAX_AMOUNT_MINOR) {
    const message = amountMinor < 1n ? 'must be at least 1' : `must be at most ${MAX_AMOUNT_MINOR}`;
    throw new ApiError('validation_error', { field: 'amount_minor', message });
  }
  const id = `credit/${tenantId}/${reference}`;
  const result = await groupCommit.commit(applyCredit, { tenantId, id, amountMinor });
  if (result.kind === 'credit_conflict') {
    const message = 'This reference was used for another amount.';
    throw new ApiError('duplicate_reference', { field: 'reference', message });
  }
  return { availableMinor: result.availableMinor };
}
