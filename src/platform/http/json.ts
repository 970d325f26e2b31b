import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../shared/errors.js';
import { holdsCardNumber, isCardField, isCardNumber } from '../../shared/card-data.js';
import type { JsonObject, JsonValue } from './context.js';

/** Deeper than any field of the API; metadata has a tighter bound of its own. */
const MAX_DEPTH = 16;
/** Paths in answers consist of the client's own keys, so they are cut. */
const MAX_PATH_LENGTH = 200;
/** A lone surrogate is half a character: MongoDB would store a different text than the client sent. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const BROKEN_TEXT = 'The text has an unpaired surrogate: it must be valid Unicode.';
const TOO_DEEP = `The body must be at most ${MAX_DEPTH} levels deep.`;
const CARD_NUMBER = 'The request must not hold a card number.';
const CARD_FIELD =
  'The request must not hold card data, such as a card number, a security code, a PIN or a track.';
const FORBIDDEN_NAME =
  'A name must not begin with $, be __proto__, or contain NUL or an unpaired surrogate.';

/**
 * Parses a JSON object that is safe to store: valid UTF-8, bounded depth, no keys or texts that MongoDB or JavaScript
 * would interpret, no card number, and no field for the data of a card. Throws a `validation_error` that names the path.
 */
export function parseJsonObject(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  let value: JsonValue;
  try {
    value = JSON.parse(bytes.toString('utf8')) as JsonValue;
  } catch {
    // The parser's message is not used, because it quotes the body.
    throw malformed('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body must be a JSON object.');
  }
  checkTree(value);
  return value;
}

type Node = { value: JsonValue; depth: number; key: string; parent: Node | null };

/** Iterates with a list of its own: with recursion, the caller would decide how deep the stack gets. */
function checkTree(root: JsonObject): void {
  const open: Node[] = [{ value: root, depth: 1, key: '', parent: null }];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { value } = node;
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) refuse(node, BROKEN_TEXT);
    if (isCardNumber(value)) refuse(node, CARD_NUMBER);
    if (typeof value !== 'object' || value === null) continue;
    if (node.depth > MAX_DEPTH) refuse(node, TOO_DEEP);
    for (const [key, child] of Object.entries(value)) {
      const next = { value: child, depth: node.depth + 1, key, parent: node };
      if (isForbiddenKey(key)) refuse(next, FORBIDDEN_NAME);
      // The name is not in the answer: clients log error messages.
      if (holdsCardNumber(key)) refuse(node, CARD_NUMBER);
      if (isCardField(key)) refuse(next, CARD_FIELD);
      open.push(next);
    }
  }
}

function isForbiddenKey(key: string): boolean {
  return (
    key === '__proto__' || key.startsWith('$') || key.includes('\0') || LONE_SURROGATE.test(key)
  );
}

function refuse(node: Node, message: string): never {
  const keys: string[] = [];
  for (let at: Node = node; at.parent !== null; at = at.parent) keys.unshift(at.key);
  const field = keys
    .join('.')
    .replaceAll(/\p{Surrogate}/gu, '\uFFFD')
    .slice(0, MAX_PATH_LENGTH);
  throw new ApiError('validation_error', {
    field: field || 'body',
    message,
    details: { issues: [{ field: field || 'body', code: 'not_allowed', message }] },
  });
}

function malformed(message: string): ApiError {
  return new ApiError('validation_error', {
    field: 'body',
    message,
    details: { issues: [{ field: 'body', code: 'malformed', message }] },
  });
}
