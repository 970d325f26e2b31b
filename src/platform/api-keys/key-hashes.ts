import type { KeyPepper } from '../../shared/key-peppers.js';
import { hashKey } from './api-key.js';

/** The hash of a key as it is stored, with the id of its pepper. Documents of earlier releases have no id. */
export type StoredHash = { hash: string; pepper_id?: string };

/** Hashes keys under the peppers of this deployment. */
export type KeyHashes = ReturnType<typeof createKeyHashes>;

/**
 * Creates the hashes of keys: a new one is under the first pepper, and a key is found by its hash under any of them, so that
 * peppers can be exchanged without a pause.
 */
export function createKeyHashes(peppers: readonly KeyPepper[]) {
  const [first] = peppers;
  if (first === undefined) throw new Error('there is no key pepper');
  return {
    /** The hash under the first pepper. */
    current: (token: string): Required<StoredHash> => ({
      hash: hashKey(token, first.secret),
      pepper_id: first.id,
    }),
    /** The hashes under all peppers, that under the first one first. */
    all: (token: string): string[] => peppers.map(({ secret }) => hashKey(token, secret)),
    /** False if the stored hash should be replaced by one under the first pepper. */
    isCurrent: ({ pepper_id: id }: StoredHash): boolean => id === first.id,
  };
}
