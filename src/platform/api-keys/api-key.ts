import { createHmac, randomBytes } from 'node:crypto';

/** The environment of a deployment. Each has a database, a Temporal namespace and keys of its own. */
export type Environment = 'sandbox' | 'live';
/**
 * `secret` keys stay on servers. `public` keys may be visible to anyone and reach only the operations with `public_key`
 * access.
 */
export type KeyKind = 'secret' | 'public';
/** The levels of a key, lowest first. */
export const KEY_LEVELS = ['read', 'write', 'admin'] as const;
/** `read` allows GET; `write` also allows changes; `admin` also allows sensitive operations. */
export type KeyLevel = (typeof KEY_LEVELS)[number];

const PREFIX_OF = { secret: 'sk', public: 'pk' } as const;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 characters of base62 are 190 bits, which makes guessing hopeless. */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** Rotation is recommended every 90 days. */
const ROTATION_DUE_AFTER_MS = 90 * 24 * 60 * 60 * 1000;

/** Generates an operator's key, `op_sandbox_<random><checksum>`. It is shown once: only its hash is stored. */
export function generateOperatorKey(environment: Environment): string {
  const body = `op_${environment}_${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** Generates a key, `sk_sandbox_<random><checksum>`. It is shown once: only its hash is stored. */
export function generateKey(kind: KeyKind, environment: Environment): string {
  const body = `${PREFIX_OF[kind]}_${environment}_${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** The parts of a token that can be read without a look-up. */
type ParsedKey = {
  kind: KeyKind;
  environment: Environment;
  /** False for a mistyped or invented key, which is refused without a look-up. */
  intact: boolean;
};

/** Reads a token, or returns null if it does not have the form of a key. */
export function parseKey(token: string): ParsedKey | null {
  const match = /^(sk|pk)_(sandbox|live)_([0-9A-Za-z]{1,100})$/.exec(token);
  if (match === null) return null;
  const kind = match[1] === 'sk' ? 'secret' : 'public';
  return { kind, environment: environmentOf(match[2]), intact: isIntact(token, match[3]) };
}

/** Reads a token, or returns null if it does not have the form of an operator's key. */
export function parseOperatorKey(token: string): Omit<ParsedKey, 'kind'> | null {
  const match = /^op_(sandbox|live)_([0-9A-Za-z]{1,100})$/.exec(token);
  if (match === null) return null;
  return { environment: environmentOf(match[1]), intact: isIntact(token, match[2]) };
}

const environmentOf = (name: string | undefined): Environment =>
  name === 'live' ? 'live' : 'sandbox';

const isIntact = (token: string, secret: string | undefined): boolean =>
  secret?.length === RANDOM_LENGTH + CHECKSUM_LENGTH &&
  checksum(token.slice(0, -CHECKSUM_LENGTH)) === token.slice(-CHECKSUM_LENGTH);

/**
 * The keyed hash under which a key is stored and looked up. Without the pepper, a stolen table of hashes is useless.
 */
export function hashKey(token: string, pepper: string): string {
  return createHmac('sha256', pepper).update(token).digest('base64url');
}

/** Tells whether a key is older than the recommended 90 days. */
export function isRotationDue(createdAt: Date, now: Date): boolean {
  return now.getTime() - createdAt.getTime() > ROTATION_DUE_AFTER_MS;
}

/** Unbiased: bytes that would favour the first characters of the alphabet are dropped. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}

/** CRC-32 in six characters of base62. It is not a secret: it detects typing errors, and every single-character one. */
function checksum(text: string): string {
  let remainder = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET.charAt(remainder % 62) + digits;
    remainder = Math.floor(remainder / 62);
  }
  return digits;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) {
    value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
  }
  return value;
});

function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc = (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}
