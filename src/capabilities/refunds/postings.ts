import type { Hold } from '../../core/ledger/hold-postings.js';
import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { Charge } from '../charges/charge.js';
import type { Refund } from './refund.js';

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

/** A payment in suspense that was refunded at the provider: suspense → clearing. */
export const returnPosting = (
  { _id: id, tenant_id: tenantId, provider }: Charge,
  at: Date,
  { refund, amountMinor }: { refund: string; amountMinor: bigint },
): Posting =>
  posting(`${id}/return-${refund}`, tenantId, at, [
    { account: accounts.suspense, amountMinor: -amountMinor },
    { account: accounts.clearing(provider), amountMinor },
  ]);
