import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * True if one of our keys has signed the body: hex HMAC-SHA512 over the raw bytes. Every key is tried, in constant time,
 * so that messages that Paystack signed with the earlier key are still accepted after a rotation.
 */
export function isSigned(
  keys: readonly string[],
  raw: Buffer,
  signature: string | undefined,
): boolean {
  if (signature === undefined || !/^[0-9a-f]{128}$/i.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  let matches = false;
  for (const key of keys) {
    const expected = createHmac('sha512', key).update(raw).digest();
    if (timingSafeEqual(expected, given)) matches = true;
  }
  return matches;
}

/** The SHA-256 of a body, in hex. Equal bodies have equal hashes. */
export const hashOf = (raw: Buffer): string => createHash('sha256').update(raw).digest('hex');
