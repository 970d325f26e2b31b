/** A key of the setting `BURSAR_KEY_PEPPER`: the HMAC key of stored API keys, with an id that is stored beside each hash. */
export type KeyPepper = { id: string; secret: string };

/** The id of a pepper that is written without one. Hashes of releases without ids are under it. */
export const UNNAMED_PEPPER = 'unnamed';

const MIN_LENGTH = 32;
/** 32 random hexadecimal digits have about 14 different ones. Fewer than this shows a pepper that was typed, not generated. */
const LEAST_DIFFERENT_CHARACTERS = 9;

/**
 * Reads `id:pepper,id2:pepper2`, or one pepper without an id. New hashes are under the first one, and all of them find keys.
 * Throws, without quoting a pepper, if the list is not valid.
 */
export function parseKeyPeppers(list: string): KeyPepper[] {
  // A pepper may have commas: only one before another id separates.
  const peppers = list.split(/,(?=[a-z0-9-]{1,32}:)/).map(parsePepper);
  const different = (values: string[]) => new Set(values).size === peppers.length;
  if (!different(peppers.map(({ id }) => id))) throw new Error('has an id twice');
  if (!different(peppers.map(({ secret }) => secret))) throw new Error('has a pepper twice');
  return peppers;
}

function parsePepper(entry: string): KeyPepper {
  const [, id = UNNAMED_PEPPER, secret = ''] = /^(?:([a-z0-9-]{1,32}):)?(.*)$/s.exec(entry) ?? [];
  if (secret.length < MIN_LENGTH) {
    throw new Error(`must be at least ${MIN_LENGTH} characters, or a list of id:pepper`);
  }
  return { id, secret };
}

/** Tells whether a pepper is an example or was typed by hand. Live refuses such peppers. */
export const isGuessablePepper = ({ secret }: KeyPepper): boolean =>
  new Set(secret).size < LEAST_DIFFERENT_CHARACTERS;
