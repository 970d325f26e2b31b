import type { Act } from '../../core/audit/entry.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { accounts, posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import { toWireAmount } from '../../shared/money.js';

/** Money from outside for a tenant's wallet. `id` is the id of its posting. */
type ApplyCredit = { tenantId: string; id: string; amountMinor: bigint; act?: Act | undefined };
/** The balance after the credit. A conflict: the posting exists with another amount. */
type CreditResult = { kind: 'credited'; availableMinor: bigint } | { kind: 'credit_conflict' };

/** Credits a wallet once per posting id. The tenant's receivable is paid first. */
export const applyCredit: Mutation<ApplyCredit, CreditResult> = {
  reads: ({ tenantId, id }) => ({ postings: [id], wallets: [tenantId] }),
  decide: decideCredit,
  audited: (uow, { tenantId }) => {
    const { availableMinor, receivableMinor } = uow.wallet(tenantId);
    return {
      available_minor: toWireAmount(availableMinor),
      receivable_minor: toWireAmount(receivableMinor),
    };
  },
};

function decideCredit(uow: UnitOfWork, input: ApplyCredit, now: Date): CreditResult {
  const wallet = uow.wallet(input.tenantId);
  const earlier = uow.posting(input.id);
  if (earlier) {
    const moved = earlier.legs.find((leg) => leg.account === accounts.external)?.amountMinor;
    return moved === -input.amountMinor
      ? { kind: 'credited', availableMinor: wallet.availableMinor }
      : { kind: 'credit_conflict' };
  }
  const { repaidMinor, restMinor } = payReceivable(wallet, input.amountMinor);
  const availableMinor = wallet.availableMinor + restMinor;
  uow.post(
    posting(input.id, input.tenantId, now, [
      { account: accounts.external, amountMinor: -input.amountMinor },
      { account: accounts.receivable(input.tenantId), amountMinor: repaidMinor },
      { account: accounts.available(input.tenantId), amountMinor: restMinor },
    ]),
  );
  uow.changeWallet({
    ...wallet,
    availableMinor,
    receivableMinor: wallet.receivableMinor - repaidMinor,
  });
  return { kind: 'credited', availableMinor };
}
