/** Transfer fees by amount, both in kobo. The published tiers: ₦10 up to ₦5,000, ₦25 up to ₦50,000, ₦50 above. */
const TIERS: readonly { upToMinor: bigint; feeMinor: bigint }[] = [
  { upToMinor: 500_000n, feeMinor: 1_000n },
  { upToMinor: 5_000_000n, feeMinor: 2_500n },
];
const TOP_FEE_MINOR = 5_000n;

/** The published fee of a transfer, in kobo. */
export function transferFee(amountMinor: bigint): bigint {
  return TIERS.find((tier) => amountMinor <= tier.upToMinor)?.feeMinor ?? TOP_FEE_MINOR;
}
