/**
 * The largest amount that JSON can carry exactly: 2^53 − 1. Amounts are whole minor units (kobo): `bigint` in the code,
 * an integer on the wire, `long` in BSON.
 */
export const MAX_AMOUNT_MINOR = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The amount as a JSON number. Throws if the number would not be exact: a wrong amount is worse than a failed request.
 */
export function toWireAmount(amountMinor: bigint): number {
  if (amountMinor > MAX_AMOUNT_MINOR || amountMinor < -MAX_AMOUNT_MINOR) {
    throw new RangeError('amount does not fit the wire format');
  }
  return Number(amountMinor);
}

/** The amount in major units for people: 1234567 becomes "12,345.67". */
export function formatMajor(amountMinor: bigint): string {
  const cents = (amountMinor % 100n).toString().padStart(2, '0');
  return `${(amountMinor / 100n).toLocaleString('en')}.${cents}`;
}

/** The smaller of two amounts. */
export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** An amount, or zero in place of a negative one. */
export const positive = (minor: bigint): bigint => (minor > 0n ? minor : 0n);
