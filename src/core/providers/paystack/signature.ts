import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The key of ours that has signed the body: hex HMAC-SHA512 over the raw bytes. Every key is tried, in constant time,
 * so that messages that Paystack signed with the earlier key are still accepted after a rotation.
 */
export function signedBy(
  keys: readonly string[],
  raw: Buffer,
  signature: string | undefined,
): string | undefined {
  if (signature === undefined || !/^[0-9a-f]{128}$/i.test(signature)) return undefined;
  const given = Buffer.from(signature, 'hex');
  let signing: string | undefined;
  for (const key of keys) {
    const expected = createHmac('sha512', key).update(raw).digest();
    if (timingSafeEqual(expected, given)) signing = key;
  }
  return signing;
}

/** The SHA-256 of a body, in hex. Equal bodies have equal hashes. */
export const hashOf = (raw: Buffer): string => createHash('sha256').update(raw).digest('hex');
