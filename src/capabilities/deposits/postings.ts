import { accounts, posting, type Posting, type WalletBalances } from '../../core/ledger/posting.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';
import type { Deposit } from './record.js';

/** The steps of a deposit's postings. */
export type DepositStep =
  'credit' | 'suspense' | 'assign' | 'reversal' | 'suspense-reversal' | 'return' | 'move';

/** A posting, and the changes of the wallet's balances (negative: decreases). */
export type DepositMovement = { posting: Posting; availableMinor: bigint; receivableMinor: bigint };

type Booked = Deposit & { amount_minor: bigint };

/**
 * Steps between clearing and suspense. `amount`: 1 moves the gross amount to suspense, -1 back. `fee`: at 1 Bursar pays the
 * provider's fee from its own fees, as nobody has the money yet; at -1 it gets the fee back, because another record books it. At 0
 * the provider keeps its fee of money that goes back to its sender.
 */
const SUSPENSE: Partial<Record<DepositStep, { amount: bigint; fee: bigint }>> = {
  suspense: { amount: 1n, fee: 1n },
  move: { amount: -1n, fee: -1n },
  'suspense-reversal': { amount: -1n, fee: 0n },
  return: { amount: -1n, fee: 0n },
};

/** The movement of a step. What the wallet lacks at a reversal becomes a receivable. */
export function moveDeposit(
  deposit: Booked,
  step: DepositStep,
  at: Date,
  wallet: WalletBalances,
): DepositMovement {
  const { tenant_id: tenantId, provider, amount_minor: amountMinor, fee_minor: fee } = deposit;
  const id = `${deposit._id}/${step}`;
  const clearing = accounts.clearing(provider);
  const paidMinor = deposit.fee_booked ? fee : 0n;
  const sign = SUSPENSE[step];
  if (sign !== undefined) {
    const entry = posting(id, tenantId, at, [
      { account: clearing, amountMinor: -sign.amount * amountMinor },
      { account: accounts.suspense, amountMinor: sign.amount * amountMinor },
      { account: accounts.fees, amountMinor: -sign.fee * paidMinor },
      { account: accounts.providerFees(provider), amountMinor: sign.fee * paidMinor },
    ]);
    return { posting: entry, availableMinor: 0n, receivableMinor: 0n };
  }
  if (step === 'reversal') {
    const { paidMinor: pays, owedMinor: owes } = payFromAvailable(wallet, amountMinor);
    const entry = posting(id, tenantId, at, [
      { account: accounts.available(tenantId), amountMinor: -pays },
      { account: accounts.receivable(tenantId), amountMinor: -owes },
      { account: clearing, amountMinor },
    ]);
    return { posting: entry, availableMinor: -pays, receivableMinor: owes };
  }
  const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor - fee);
  const entry = posting(id, tenantId, at, [
    {
      account: step === 'assign' ? accounts.suspense : clearing,
      amountMinor: -amountMinor,
    },
    // The owner pays the fee: back to Bursar, if that has paid it to the provider.
    { account: accounts.fees, amountMinor: paidMinor },
    { account: accounts.providerFees(provider), amountMinor: fee - paidMinor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: restMinor },
  ]);
  return { posting: entry, availableMinor: restMinor, receivableMinor: -repaidMinor };
}
