import { holdsCardNumber, isCardNumber } from '../../shared/card-data.js';
import { isOwnId } from '../../shared/ids.js';
import type { SafeFields } from '../providers/provider-message.js';

/** The stored copy of a message: its structure, and the values that hold nothing of a customer. */
export type MaskedMessage =
  string | number | boolean | null | MaskedMessage[] | { [name: string]: MaskedMessage };

/** Deeper structures become their type: MongoDB has a limit, and no provider's message is near this one. */
const MAX_DEPTH = 10;

/**
 * The copy of a message that may be stored. A value stays only under a name of `safe`; every other value becomes its type,
 * as `<string>`, which no reader takes for a value. Also under a safe name no card or account number stays.
 */
export function maskMessage(raw: Buffer, safe: SafeFields): MaskedMessage {
  try {
    return mask(JSON.parse(raw.toString('utf8')), safe, '', 0);
  } catch {
    return `<${raw.length} bytes>`;
  }
}

function mask(value: unknown, safe: SafeFields, name: string, depth: number): MaskedMessage {
  if (value === null) return null;
  if (typeof value !== 'object') return maskValue(value, safe, name);
  if (depth === MAX_DEPTH) return Array.isArray(value) ? '<array>' : '<object>';
  if (Array.isArray(value)) return value.map((each) => mask(each, safe, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each], i) => [
      isFieldName(key) ? key : `<name ${i}>`,
      mask(each, safe, key, depth + 1),
    ]),
  );
}

function maskValue(value: unknown, safe: SafeFields, name: string): MaskedMessage {
  const type = `<${typeof value}>`;
  const rule = Object.hasOwn(safe, name) ? safe[name] : undefined;
  if (rule === undefined) return type;
  if (typeof value === 'string') {
    if (rule === 'own_id' ? isOwnId(value) : isIdentifier(value)) return value;
    return type;
  }
  if (rule === 'own_id') return type;
  if (typeof value === 'boolean') return value;
  return typeof value === 'number' && !isCardNumber(value) ? value : type;
}

/** A name may hold a value too: "0123456789" as the key of an account. */
const isFieldName = (name: string) =>
  /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) && !/[0-9]{6}/.test(name);

/** One word, so no name of a person or text; and not digits alone in the length of an account or card number. */
const isIdentifier = (value: string) =>
  /^[A-Za-z0-9][A-Za-z0-9_.:+/-]{0,199}$/.test(value) &&
  !isAccountNumber(value) &&
  !holdsCardNumber(value) &&
  (!value.includes('/') || isIdentifierInParts(value.split('/')));

const isAccountNumber = (value: string) => /^[0-9]{10,19}$/.test(value);

/**
 * An id in parts between slashes, as "2026/a1-77". One without a digit may be names ("Ada/Obi"), and one of digits alone a date, an
 * expiry, or an account or card number in parts. An empty part is that of an address ("https://").
 */
const isIdentifierInParts = (parts: readonly string[]): boolean => {
  const whole = parts.join('');
  return (
    !parts.includes('') &&
    !parts.some(isAccountNumber) &&
    /[0-9]/.test(whole) &&
    !/^[0-9]{1,19}$/.test(whole) &&
    !holdsCardNumber(whole)
  );
};

/** The provider's type of a message that cannot be read; `unreadable` if it has none that may be stored. */
export const safeType = (name: string | null): string =>
  name !== null && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(name) && !/[0-9]{6}/.test(name)
    ? name
    : 'unreadable';
