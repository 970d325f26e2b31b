import { accounts, posting, type Leg, type Posting } from '../../core/ledger/posting.js';
import { paidMinorOf, type Charge, type SuspendedPayment } from './record.js';

/** The amount that the provider pays, less its fee: clearing → available, after the receivable is paid. */
export const creditPosting = (charge: Charge, at: Date, repaidMinor: bigint): Posting =>
  creditFrom(charge, 'credit', at, {
    from: accounts.clearing(charge.provider),
    repaidMinor,
    suspenseFeeMinor: 0n,
  });

/**
 * A payment in suspense that an operator has accepted: suspense → available, like a credit. `suspenseFeeMinor`: the fee that Bursar
 * has paid, and gets back.
 */
export const acceptPosting = (
  charge: Charge,
  at: Date,
  paid: { repaidMinor: bigint; suspenseFeeMinor: bigint },
): Posting => creditFrom(charge, 'accept', at, { from: accounts.suspense, ...paid });

function creditFrom(
  charge: Charge,
  step: string,
  at: Date,
  {
    from,
    repaidMinor,
    suspenseFeeMinor,
  }: { from: string; repaidMinor: bigint; suspenseFeeMinor: bigint },
): Posting {
  const { _id: id, tenant_id: tenantId, provider } = charge;
  const amountMinor = paidMinorOf(charge);
  const feeMinor = charge.provider_fee_minor ?? 0n;
  return posting(`${id}/${step}`, tenantId, at, [
    { account: from, amountMinor: -amountMinor },
    { account: accounts.fees, amountMinor: suspenseFeeMinor },
    { account: accounts.providerFees(provider), amountMinor: feeMinor - suspenseFeeMinor },
    { account: accounts.receivable(tenantId), amountMinor: repaidMinor },
    { account: accounts.available(tenantId), amountMinor: amountMinor - feeMinor - repaidMinor },
  ]);
}

/** The step of a payment in suspense. Each attempt can be in suspense once. */
export const suspenseStep = ({ attempt }: Pick<SuspendedPayment, 'attempt'>) =>
  `suspense-${attempt}`;

/** A payment that is not what was requested: clearing → suspense. Bursar pays the provider's fee of it: fees → provider fees. */
export function suspensePosting(
  charge: Charge,
  at: Date,
  payment: SuspendedPayment,
  feeMinor: bigint,
): Posting {
  const { _id: id, tenant_id: tenantId, provider } = charge;
  const { amount_minor: amountMinor } = payment;
  return posting(`${id}/${suspenseStep(payment)}`, tenantId, at, [
    { account: accounts.clearing(provider), amountMinor: -amountMinor },
    { account: accounts.suspense, amountMinor },
    ...feeLegs(provider, feeMinor),
  ]);
}

/** A fee that becomes known while its payment is in suspense, or after its return: fees → provider fees. */
export const suspenseFeePosting = (
  { _id: id, tenant_id: tenantId, provider }: Charge,
  at: Date,
  { attempt, feeMinor }: { attempt: number; feeMinor: bigint },
): Posting => {
  const step = `${suspenseStep({ attempt })}-fee`;
  return posting(`${id}/${step}`, tenantId, at, feeLegs(provider, feeMinor));
};

const feeLegs = (provider: string, feeMinor: bigint): Leg[] => [
  { account: accounts.fees, amountMinor: -feeMinor },
  { account: accounts.providerFees(provider), amountMinor: feeMinor },
];

/** A payment in suspense whose amount its provider has corrected, so that it is credited: suspense → clearing, and its fee back. */
export function correctionPosting(
  charge: Charge,
  at: Date,
  payment: SuspendedPayment,
  feeMinor: bigint,
): Posting {
  const { legs, tenantId } = suspensePosting(charge, at, payment, feeMinor);
  const back = legs.map((leg) => ({ ...leg, amountMinor: -leg.amountMinor }));
  return posting(`${charge._id}/${suspenseStep(payment)}-corrected`, tenantId, at, back);
}

/** A fee that becomes known after the credit: available → provider fees. A receivable covers what the wallet lacks. */
export function feePosting(
  { _id: id, tenant_id: tenantId, provider }: Charge,
  at: Date,
  { feeMinor, owedMinor }: { feeMinor: bigint; owedMinor: bigint },
): Posting {
  const legs: Leg[] = [
    { account: accounts.providerFees(provider), amountMinor: feeMinor },
    { account: accounts.receivable(tenantId), amountMinor: -owedMinor },
    { account: accounts.available(tenantId), amountMinor: owedMinor - feeMinor },
  ];
  return posting(`${id}/fee`, tenantId, at, legs);
}
