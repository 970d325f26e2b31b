import type { WalletBalances } from '../../core/ledger/hold-postings.js';
import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';
import type { Deposit } from './record.js';

/** The steps of a deposit's postings. */
export type DepositStep =
  'credit' | 'suspense' | 'assign' | 'reversal' | 'suspense-reversal' | 'return' | 'move';

/** A posting, and the changes of the wallet's balances (negative: decreases). */
export type DepositMovement = { posting: Posting; availableMinor: bigint; receivableMinor: bigint };

type Booked = Deposit & { amount_minor: bigint };

/** Deposits that move between clearing and suspense alone. Positive: to suspense. */
const SUSPENSE: Partial<Record<DepositStep, bigint>> = {
  suspense: 1n,
  'suspense-reversal': -1n,
  return: -1n,
  move: -1n,
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
  const sign = SUSPENSE[step];
  if (sign !== undefined) {
    const entry = posting(id, tenantId, at, [
      { account: clearing, amountMinor: -sign * amountMinor },
      { account: accounts.suspense, amountMinor: sign * amountMinor },
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
    { account: PROVIDER_FEES, amountMinor: fee },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: restMinor },
  ]);
  return { posting: entry, availableMinor: restMinor, receivableMinor: -repaidMinor };
}

const PROVIDER_FEES = accounts.providerFees;
