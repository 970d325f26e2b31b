import { createHmac, randomBytes } from 'node:crypto';

export type Environment = 'sandbox' | 'live';
/** `secret` keys stay on servers; `public` keys may be seen by anyone and may do next to nothing. */
export type KeyKind = 'secret' | 'public';
export const KEY_LEVELS = ['read', 'write', 'admin'] as const;
/** `read`: GET only; `write`: also what changes something; `admin`: also what is sensitive. */
export type KeyLevel = (typeof KEY_LEVELS)[number];

const PREFIX_OF = { secret: 'sk', public: 'pk' } as const;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 characters of base62 are 190 bits: not to be guessed. */
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** Rotation is recommended every 90 days. */
const ROTATION_DUE_AFTER_MS = 90 * 24 * 60 * 60 * 1000;

/** A new key, to be shown once: `sk_sandbox_<random><checksum>`. */
export function generateKey(kind: KeyKind, environment: Environment): string {
  const body = `${PREFIX_OF[kind]}_${environment}_${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

export type ParsedKey = {
  kind: KeyKind;
  environment: Environment;
  /** False for a typo or a made-up key: nothing has to be looked up to refuse it. */
  intact: boolean;
};

/** What a token says about itself, or `null` when it does not even look like one of our keys. */
export function parseKey(token: string): ParsedKey | null {
  const match = /^(sk|pk)_(sandbox|live)_([0-9A-Za-z]{1,100})$/.exec(token);
  if (match === null) return null;
  const body = token.slice(0, -CHECKSUM_LENGTH);
  return {
    kind: match[1] === 'sk' ? 'secret' : 'public',
    environment: match[2] === 'live' ? 'live' : 'sandbox',
    intact:
      match[3]?.length === RANDOM_LENGTH + CHECKSUM_LENGTH &&
      checksum(body) === token.slice(-CHECKSUM_LENGTH),
  };
}

/** What is stored and looked up in place of a key. Without the pepper a stolen table of them is of no use. */
export function hashKey(token: string, pepper: string): string {
  return createHmac('sha256', pepper).update(token).digest('base64url');
}

export function isRotationDue(createdAt: Date, now: Date): boolean {
  return now.getTime() - createdAt.getTime() > ROTATION_DUE_AFTER_MS;
}

/** Unbiased: bytes that would favour the first characters of the alphabet are thrown away. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}

/** CRC-32 in six characters of base62. It is no secret: it tells typos from keys, and finds every single-character one. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
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
