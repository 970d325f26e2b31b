import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { Charge } from './charge.js';

/** The amount that the provider pays, less its fee: clearing → available, after the receivable is paid. */
export function creditPosting(charge: Charge, at: Date, repaidMinor: bigint): Posting {
  const { _id: id, tenant_id: tenantId, provider, amount_minor: amountMinor } = charge;
  const feeMinor = charge.provider_fee_minor ?? 0n;
  return posting(`${id}/credit`, tenantId, at, [
    { account: accounts.clearing(provider), amountMinor: -amountMinor },
    { account: accounts.providerFees, amountMinor: feeMinor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: amountMinor - feeMinor - repaidMinor },
  ]);
}
