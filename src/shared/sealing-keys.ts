/** A key of the setting `BURSAR_SEALING_KEYS`: 256 bits under an id, which is stored beside everything that it seals. */
export type SealingKey = { id: string; secret: Buffer };

const KEY_BYTES = 32;
/** 32 random bytes have about 30 different values. Fewer than this shows a key that was typed, not generated. */
const LEAST_DIFFERENT_BYTES = 16;

/** Reads `id:base64,id2:base64`. The first key seals, all of them open. Throws, without quoting a key, if the list is not valid. */
export function parseSealingKeys(list: string): SealingKey[] {
  const keys = list.split(',').map(parseKey);
  const different = (values: string[]) => new Set(values).size === keys.length;
  if (!different(keys.map(({ id }) => id))) throw new Error('has an id twice');
  if (!different(keys.map(({ secret }) => secret.toString('hex'))))
    throw new Error('has a key twice');
  return keys;
}

function parseKey(entry: string): SealingKey {
  const [, id, text] = /^([a-z0-9-]{1,32}):([A-Za-z0-9+/]{43}=?)$/.exec(entry.trim()) ?? [];
  const secret = Buffer.from(text ?? '', 'base64');
  if (id === undefined || secret.length !== KEY_BYTES)
    throw new Error('must be a list of id:key, with 32 bytes of base64 as each key');
  return { id, secret };
}

/** Tells whether a key is an example or was typed by hand. Live refuses such keys. */
export const isGuessable = ({ secret }: SealingKey): boolean =>
  new Set(secret).size < LEAST_DIFFERENT_BYTES;
