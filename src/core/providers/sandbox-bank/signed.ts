import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { SandboxBankOptions } from './answers.js';

/** The greatest age of a signature. The bank signs every delivery anew, so this bounds replays, not retries. */
const TOLERANCE_MS = 5 * 60 * 1000;

/** The secrets that verify messages, and a listener for the one that did. */
type VerifyingSecrets = Pick<SandboxBankOptions, 'secret' | 'earlierSecrets' | 'onVerified'>;

/** The secret with which the bank has signed this body within the last minutes. Header names are in lower case. */
function signedBy(
  { secret, earlierSecrets = [] }: VerifyingSecrets,
  raw: Buffer,
  headers: Record<string, string | undefined>,
  now: Date,
): string | undefined {
  const timestamp = headers['x-sandbox-bank-timestamp'] ?? '';
  const signature = headers['x-sandbox-bank-signature'] ?? '';
  if (!isFresh(timestamp, now)) return undefined;
  return [secret, ...earlierSecrets].find((each) => isSigned(each, timestamp, raw, signature));
}

function isFresh(timestamp: string, now: Date): boolean {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  return Math.abs(now.getTime() - Number(timestamp) * 1000) <= TOLERANCE_MS;
}

/** Hex HMAC-SHA512 over `<timestamp>.<raw body>`, compared in constant time. */
function isSigned(secret: string, timestamp: string, raw: Buffer, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/.test(signature)) return false;
  const expected = createHmac('sha512', secret).update(`${timestamp}.`).update(raw).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

/** Reads a signed message: `bad_signature`, or what `read` makes of the body. Equal bodies have an equal `hash`. */
export function readSigned<Reading>(
  secrets: VerifyingSecrets,
  read: (body: unknown, hash: () => string) => Reading,
) {
  return (
    raw: Buffer,
    headers: Record<string, string | undefined>,
    now: Date,
  ): Reading | { kind: 'bad_signature' } => {
    const secret = signedBy(secrets, raw, headers, now);
    if (secret === undefined) return { kind: 'bad_signature' };
    secrets.onVerified?.(secret);
    return read(parseJson(raw), () => hashOf(raw));
  };
}

/** Reads the stored copy of a message. It has a key already, so that no hash of it is needed. */
export const readStored =
  <Reading>(read: (body: unknown, hash: () => string) => Reading) =>
  (message: unknown): Reading =>
    read(message, () => '');

/** The parsed body, or undefined if it is not JSON. */
export function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The SHA-256 of a body, in hex. Equal bodies have equal hashes. */
export function hashOf(raw: Buffer): string {
  return createHash('sha256').update(raw).digest('hex');
}
