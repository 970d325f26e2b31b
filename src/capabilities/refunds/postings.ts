import { accounts, posting, type Posting, type Hold } from '../../core/ledger/posting.js';
import type { Charge } from '../charges/record.js';
import type { Refund } from './record.js';

/** The hold of a refund: the gross amount, because the provider keeps its fee for the charge. */
export const holdOf = (refund: Refund): Hold => ({
  id: refund._id,
  tenantId: refund.tenant_id,
  heldAt: refund.created_at,
  provider: refund.provider,
  amountMinor: refund.amount_minor,
  settledMinor: refund.settled_amount_minor,
  captured: [{ account: accounts.clearing(refund.provider), amountMinor: refund.amount_minor }],
});

/** The step of a refund that was made at the provider. */
export const DESK_REFUND = 'desk-refund';

/** A refund that was made at the provider: available → clearing. A receivable covers what the wallet lacks. */
export function deskRefundPosting(refund: Refund, at: Date, owedMinor: bigint): Posting {
  const { _id: id, tenant_id: tenantId, provider, amount_minor: amountMinor } = refund;
  return posting(`${id}/${DESK_REFUND}`, tenantId, at, [
    { account: accounts.available(tenantId), amountMinor: owedMinor - amountMinor },
    { account: accounts.receivable(tenantId), amountMinor: -owedMinor },
    { account: accounts.clearing(provider), amountMinor },
  ]);
}

/** The return of a payment: the refund that has made it, and its amount. */
type Returned = { refund: string; amountMinor: bigint };

/** A payment in suspense that was refunded at the provider: suspense → clearing. */
export const returnPosting = (charge: Charge, at: Date, { refund, amountMinor }: Returned) =>
  outOfSuspense(charge, at, { step: `return-${refund}`, amountMinor });

/** A return that the provider has taken back: clearing → suspense. */
export const putBackPosting = (charge: Charge, at: Date, { refund, amountMinor }: Returned) =>
  outOfSuspense(charge, at, { step: `return-${refund}-back`, amountMinor: -amountMinor });

const outOfSuspense = (
  { _id: id, tenant_id: tenantId, provider }: Charge,
  at: Date,
  { step, amountMinor }: { step: string; amountMinor: bigint },
): Posting =>
  posting(`${id}/${step}`, tenantId, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(provider), amountMinor },
  ]);
