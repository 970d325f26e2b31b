/** Amounts are whole minor units (kobo), `bigint` inside, an integer on the wire, BSON `long` at rest. */

/** The largest amount that JSON can carry exactly: 2^53 − 1. */
export const MAX_AMOUNT_MINOR = BigInt(Number.MAX_SAFE_INTEGER);

/** The wire form of an amount. Throws if it could not be written exactly: a wrong figure is worse than none. */
export function toWireAmount(amountMinor: bigint): number {
  if (amountMinor > MAX_AMOUNT_MINOR || amountMinor < -MAX_AMOUNT_MINOR) {
    throw new RangeError('amount does not fit the wire format');
  }
  return Number(amountMinor);
}

/** For people: 1234567 is "12,345.67". */
export function formatMajor(amountMinor: bigint): string {
  const cents = (amountMinor % 100n).toString().padStart(2, '0');
  return `${(amountMinor / 100n).toLocaleString('en')}.${cents}`;
}
