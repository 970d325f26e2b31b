import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { Transfer } from './transfer.js';

/** Every movement of money that a transfer can make. */
const step = (transfer: Transfer, name: string) => `${transfer._id}/${name}`;

/** Available → held, at acceptance. */
export function holdPosting(transfer: Transfer): Posting {
  const { tenant_id: tenantId, total_minor: total } = transfer;
  return posting(step(transfer, 'hold'), tenantId, transfer.created_at, [
    { account: accounts.available(tenantId), amountMinor: -total },
    { account: accounts.held(tenantId), amountMinor: total },
  ]);
}

/** Held → clearing and fees. Shares its id with the release: only one of them can ever exist. */
export function capturePosting(transfer: Transfer, at: Date): Posting {
  const { tenant_id: tenantId } = transfer;
  return posting(step(transfer, 'resolve'), tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -transfer.total_minor },
    { account: accounts.clearing(transfer.provider), amountMinor: transfer.amount_minor },
    { account: accounts.fees, amountMinor: transfer.fee_minor },
  ]);
}

/** Held → available. */
export function releasePosting(transfer: Transfer, at: Date): Posting {
  const { tenant_id: tenantId } = transfer;
  return posting(step(transfer, 'resolve'), tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -transfer.total_minor },
    { account: accounts.available(tenantId), amountMinor: transfer.total_minor },
  ]);
}

/** Clearing and fees → available, less what is owed: the wallet gets back all that it had paid. */
export function reversalPosting(transfer: Transfer, at: Date, repaidMinor: bigint): Posting {
  const { tenant_id: tenantId } = transfer;
  return posting(step(transfer, 'reversal'), tenantId, at, [
    { account: accounts.clearing(transfer.provider), amountMinor: -transfer.amount_minor },
    { account: accounts.fees, amountMinor: -transfer.fee_minor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: transfer.total_minor - repaidMinor },
  ]);
}

/** The provider did pay what we had given up: clearing against suspense, both ways. */
export function suspensePosting(transfer: Transfer, at: Date, direction: 'in' | 'out'): Posting {
  const amountMinor = direction === 'in' ? transfer.amount_minor : -transfer.amount_minor;
  const name = direction === 'in' ? 'suspense' : 'suspense-reversal';
  return posting(step(transfer, name), transfer.tenant_id, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(transfer.provider), amountMinor },
  ]);
}

/** Suspense is paid by the wallet after all, and by a receivable for what the wallet lacks. */
export function suspenseDebitPosting(transfer: Transfer, at: Date, owedMinor: bigint): Posting {
  const { tenant_id: tenantId } = transfer;
  return posting(step(transfer, 'suspense-debit'), tenantId, at, [
    { account: accounts.available(tenantId), amountMinor: owedMinor - transfer.total_minor },
    { account: accounts.receivable(tenantId), amountMinor: -owedMinor },
    { account: accounts.suspense, amountMinor: transfer.amount_minor },
    { account: accounts.fees, amountMinor: transfer.fee_minor },
  ]);
}
