import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { Refund } from './refund.js';

/** Every movement of money that a refund can make. */
const step = (refund: Refund, name: string) => `${refund._id}/${name}`;

/** Available → held, at acceptance: the gross amount, as the provider keeps its fee. */
export function holdPosting(refund: Refund): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = refund;
  return posting(step(refund, 'hold'), tenantId, refund.created_at, [
    { account: accounts.available(tenantId), amountMinor: -amount },
    { account: accounts.held(tenantId), amountMinor: amount },
  ]);
}

/** Held → clearing. Shares its id with the release: only one of them can ever exist. */
export function capturePosting(refund: Refund, at: Date): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = refund;
  return posting(step(refund, 'resolve'), tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -amount },
    { account: accounts.clearing(refund.provider), amountMinor: amount },
  ]);
}

/** Held → available. */
export function releasePosting(refund: Refund, at: Date): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = refund;
  return posting(step(refund, 'resolve'), tenantId, at, [
    { account: accounts.held(tenantId), amountMinor: -amount },
    { account: accounts.available(tenantId), amountMinor: amount },
  ]);
}

/** Clearing → available, less what is owed. */
export function reversalPosting(refund: Refund, at: Date, repaidMinor: bigint): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = refund;
  return posting(step(refund, 'reversal'), tenantId, at, [
    { account: accounts.clearing(refund.provider), amountMinor: -amount },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: amount - repaidMinor },
  ]);
}

/** The provider did refund what we had given up: clearing against suspense, both ways. */
export function suspensePosting(refund: Refund, at: Date, direction: 'in' | 'out'): Posting {
  const amountMinor = direction === 'in' ? refund.amount_minor : -refund.amount_minor;
  const name = direction === 'in' ? 'suspense' : 'suspense-reversal';
  return posting(step(refund, name), refund.tenant_id, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(refund.provider), amountMinor },
  ]);
}

/** Suspense is paid by the wallet after all, and by a receivable for what it lacks. */
export function adoptionPosting(refund: Refund, at: Date, owedMinor: bigint): Posting {
  const { tenant_id: tenantId, amount_minor: amount } = refund;
  return posting(step(refund, 'suspense-debit'), tenantId, at, [
    { account: accounts.available(tenantId), amountMinor: owedMinor - amount },
    { account: accounts.receivable(tenantId), amountMinor: -owedMinor },
    { account: accounts.suspense, amountMinor: amount },
  ]);
}
