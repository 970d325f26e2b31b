import { ApiError } from '../errors.js';
import { MAX_AMOUNT_MINOR } from '../money.js';
import type { Kind } from './kind.js';
import { accounts, posting } from './posting.js';
import type { View } from './view.js';

export type CreditItem = { kind: 'credit'; tenant: string; id: string; amountMinor: bigint };
export type CreditOutcome =
  { kind: 'credited'; availableMinor: bigint } | { kind: 'credit_conflict' };

export const credit: Kind<CreditItem, CreditOutcome> = {
  reads: ({ tenant, id }) => ({ postings: [id], wallets: [tenant] }),
  decide: decideCredit,
};

/** Money from outside: what the tenant owes is taken first, the rest becomes available. Once per posting id. */
function decideCredit(view: View, item: CreditItem, now: Date): CreditOutcome {
  const wallet = view.wallet(item.tenant);
  const earlier = view.posting(item.id);
  if (earlier) {
    const moved = earlier.legs.find((leg) => leg.account === accounts.external)?.amountMinor;
    return moved === -item.amountMinor
      ? { kind: 'credited', availableMinor: wallet.availableMinor }
      : { kind: 'credit_conflict' };
  }
  const repaid = wallet.owedMinor < item.amountMinor ? wallet.owedMinor : item.amountMinor;
  const availableMinor = wallet.availableMinor + item.amountMinor - repaid;
  view.post(
    posting(item.id, item.tenant, now, [
      { account: accounts.external, amountMinor: -item.amountMinor },
      { account: accounts.receivable(item.tenant), amountMinor: repaid },
      { account: accounts.available(item.tenant), amountMinor: item.amountMinor - repaid },
    ]),
  );
  view.changeWallet({ ...wallet, availableMinor, owedMinor: wallet.owedMinor - repaid });
  return { kind: 'credited', availableMinor };
}

/**
 * Credits a wallet with money from outside, once per reference: a repeat answers the present balance, the same
 * reference with another amount is refused.
 */
export async function creditWallet(
  groupCommit: { commit(item: CreditItem): Promise<CreditOutcome> },
  given: { tenant: string; amountMinor: bigint; reference: string },
): Promise<{ availableMinor: bigint }> {
  const { tenant, amountMinor, reference } = given;
  if (amountMinor < 1n || amountMinor > MAX_AMOUNT_MINOR) {
    const message = amountMinor < 1n ? 'must be at least 1' : `must be at most ${MAX_AMOUNT_MINOR}`;
    throw new ApiError('validation_error', { field: 'amount_minor', message });
  }
  const id = `credit/${tenant}/${reference}`;
  const outcome = await groupCommit.commit({ kind: 'credit', tenant, id, amountMinor });
  if (outcome.kind === 'credit_conflict') {
    const message = 'This reference was used for another amount.';
    throw new ApiError('duplicate_reference', { field: 'reference', message });
  }
  return { availableMinor: outcome.availableMinor };
}
