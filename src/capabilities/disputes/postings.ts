import { accounts, posting, type Posting } from '../../core/ledger/posting.js';
import type { Dispute } from './record.js';

type Of = Pick<Dispute, '_id' | 'tenant_id' | 'provider' | 'amount_minor'>;

/** The account that has the amount of an open dispute. */
const holder = ({ provider }: Pick<Of, 'provider'>, funds: Dispute['funds']): string =>
  funds === 'taken' ? accounts.clearing(provider) : accounts.disputes(provider);

/** A dispute is opened: available → disputes, or clearing if the provider has taken it. A receivable covers a lack. */
export function openPosting(
  dispute: Of,
  at: Date,
  { funds, owedMinor }: { funds: Dispute['funds']; owedMinor: bigint },
): Posting {
  const { _id: id, tenant_id: tenantId, amount_minor: amountMinor } = dispute;
  return posting(`${id}/open`, tenantId, at, [
    { account: accounts.available(tenantId), amountMinor: owedMinor - amountMinor },
    { account: accounts.receivable(tenantId), amountMinor: -owedMinor },
    { account: holder(dispute, funds), amountMinor },
  ]);
}

/** The provider takes the amount, while the dispute is open or because it is lost: disputes → clearing. */
export const takePosting = (dispute: Of, at: Date): Posting =>
  posting(`${dispute._id}/take`, dispute.tenant_id, at, [
    { account: accounts.disputes(dispute.provider), amountMinor: -dispute.amount_minor },
    { account: accounts.clearing(dispute.provider), amountMinor: dispute.amount_minor },
  ]);

/** A dispute is won: its amount → available, after the receivable is paid. */
export function wonPosting(
  dispute: Of,
  at: Date,
  { funds, repaidMinor }: { funds: Dispute['funds']; repaidMinor: bigint },
): Posting {
  const { _id: id, tenant_id: tenantId, amount_minor: amountMinor } = dispute;
  return posting(`${id}/won`, tenantId, at, [
    { account: holder(dispute, funds), amountMinor: -amountMinor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: amountMinor - repaidMinor },
  ]);
}

/**
 * An operator decides a dispute: the amount that the payer has lost so far goes from its holder to clearing as far as it is
 * lost, and the difference is between the holder and the payer. `number` counts the decisions from 1.
 */
export function decidedPosting(
  dispute: Of,
  at: Date,
  legs: {
    number: number;
    funds: Dispute['funds'];
    heldMinor: bigint;
    lostMinor: bigint;
    availableMinor: bigint;
    receivableMinor: bigint;
  },
): Posting | null {
  const { _id: id, tenant_id: tenantId, provider } = dispute;
  const { number, funds, heldMinor, lostMinor, availableMinor, receivableMinor } = legs;
  const isTaken = funds === 'taken';
  const clearingMinor = isTaken ? lostMinor - heldMinor : lostMinor;
  const isSame = clearingMinor === 0n && (isTaken || heldMinor === 0n);
  if (isSame) return null;
  return posting(`${id}/decided-${number}`, tenantId, at, [
    { account: accounts.disputes(provider), amountMinor: isTaken ? 0n : -heldMinor },
    { account: accounts.clearing(provider), amountMinor: clearingMinor },
    { account: accounts.available(tenantId), amountMinor: availableMinor },
    { account: accounts.receivable(tenantId), amountMinor: -receivableMinor },
  ]);
}
