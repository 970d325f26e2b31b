import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { SealingKey } from '../../shared/sealing-keys.js';

const IV_BYTES = 12;
const TAG_BYTES = 16;
/** The id of a key, and at least the 28 bytes that even an empty text has when it is sealed. */
const SEALED = /^([a-z0-9-]{1,32})\.[A-Za-z0-9_-]{38,}$/;

/** The place of a sealed value: the id of its record, and the field. A value opens at its own place alone. */
export type SealedPlace = { record: string; field: string };

/** Seals values that the database must not have in clear. */
export type Sealing = ReturnType<typeof createSealing>;

/**
 * Creates the seal: AES-256-GCM under the first key of the list. Every key of the list opens what it sealed, so that keys
 * can be exchanged without a pause. Ciphers and blind indexes have separate keys, derived from each listed key.
 */
export function createSealing(keys: readonly SealingKey[]) {
  const all = keys.map(({ id, secret }) => ({
    id,
    cipher: derive(secret, 'bursar sealing'),
    index: derive(secret, 'bursar blind index'),
  }));
  const [first] = all;
  if (first === undefined) throw new Error('there is no sealing key');

  return {
    /** The sealed text: the id of the key, a full stop, and base64url. */
    seal: (text: string, place: SealedPlace): string =>
      `${first.id}.${encrypt(first, text, place).toString('base64url')}`,

    /** The text; null if it was changed, sealed for another place, or sealed under a key that is not in the list. */
    open(sealed: string, place: SealedPlace): string | null {
      const [id, body = ''] = sealed.split('.', 2);
      const key = all.find((each) => each.id === id);
      const bytes = Buffer.from(body, 'base64url');
      // Base64 has several spellings of the same bytes. Only the one that was written is accepted.
      if (key === undefined || `${key.id}.${bytes.toString('base64url')}` !== sealed) return null;
      return decrypt(key, bytes, place);
    },

    /** The id of the first key, which seals. */
    currentKeyId: first.id,

    /** A hash under each key of the list, by which another key with the same id is noticed. */
    marks: all.map((key) => ({ id: key.id, check: blindIndex(key, key.id, 'mark of a key') })),

    /** The id of the key in a sealed text, listed or not; null if the text does not have the form of a sealed one. */
    keyIdOf: (text: string): string | null => SEALED.exec(text)?.[1] ?? null,

    /** False if a later key of the list, or none of it, sealed this text: it should be sealed again. */
    isCurrent: (sealed: string): boolean => sealed.startsWith(`${first.id}.`),

    /**
     * A keyed hash to store and look up a value by. Without the keys nobody can find the value by trying all of them.
     * Hashes of different purposes do not match.
     */
    blindIndex: (text: string, purpose: string): string => blindIndex(first, text, purpose),

    /** The hashes of a value under every key of the list: a look-up must match any of them. */
    blindIndexes: (text: string, purpose: string): string[] =>
      all.map((key) => blindIndex(key, text, purpose)),
  };
}

type DerivedKeys = { id: string; cipher: Buffer; index: Buffer };

const derive = (secret: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));

/** JSON separates the parts: no two places have the same associated data. */
const associatedData = (key: DerivedKeys, { record, field }: SealedPlace) =>
  Buffer.from(JSON.stringify([key.id, record, field]));

function encrypt(key: DerivedKeys, text: string, place: SealedPlace): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.cipher, iv).setAAD(associatedData(key, place));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

function decrypt(key: DerivedKeys, bytes: Buffer, place: SealedPlace): string | null {
  const [iv, rest] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES)];
  if (rest.length < TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.cipher, iv, { authTagLength: TAG_BYTES })
      .setAAD(associatedData(key, place))
      .setAuthTag(rest.subarray(0, TAG_BYTES));
    return decipher.update(rest.subarray(TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}

const blindIndex = (key: DerivedKeys, text: string, purpose: string) =>
  `${key.id}.${createHmac('sha256', key.index)
    .update(JSON.stringify([purpose, text]))
    .digest('base64url')}`;
