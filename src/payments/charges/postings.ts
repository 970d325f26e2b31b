import { accounts, posting, type Posting } from '../../ledger/posting.js';
import type { Charge } from './charge.js';

/** What the provider has paid us, less what it keeps: clearing → available, what is owed first. */
export function creditPosting(charge: Charge, at: Date, repaidMinor: bigint): Posting {
  const { _id: id, tenant, provider, amount_minor: amountMinor } = charge;
  const feeMinor = charge.provider_fee_minor ?? 0n;
  return posting(`${id}/credit`, tenant, at, [
    { account: accounts.clearing(provider), amountMinor: -amountMinor },
    { account: accounts.providerFees, amountMinor: feeMinor },
    { account: accounts.receivable(tenant), amountMinor: repaidMinor },
    { account: accounts.available(tenant), amountMinor: amountMinor - feeMinor - repaidMinor },
  ]);
}
