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
const REPEATED_NAME = 'An object must not have two fields of one name.';
const FORBIDDEN_NAME =
  'A name must not begin with $, be __proto__, or contain NUL or an unpaired surrogate.';

/**
 * Parses a JSON object that is safe to store: valid UTF-8, bounded depth, no keys or texts that MongoDB or JavaScript
 * would interpret, no name twice, no card number, and no field for the data of a card. Throws a `validation_error` that names
 * the path.
 */
export function parseJsonObject(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // The parser's message is not used, because it quotes the body.
    throw malformed('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body must be a JSON object.');
  }
  const names = checkTree(value);
  // A parser before this one, such as a proxy's, may take the first of two values; this one took the last.
  if (countNames(text) > names) refuseAt(repeatedName(text), REPEATED_NAME);
  return value;
}

/** The number of names in a valid JSON text: each is a string before a colon. */
function countNames(text: string): number {
  let count = 0;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|:/g)) if (token === ':') count += 1;
  return count;
}

/**
 * The path of the first name that its object has twice, in a valid JSON text that has one. It ends before a name that holds a card
 * number: `checkTree` has not seen the names in a value that was replaced.
 */
function repeatedName(text: string): string[] {
  const open: { names: Set<string> | null; key: string | number }[] = [];
  let lastText = '""';
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g)) {
    const at = open.at(-1);
    if (token === '{') open.push({ names: new Set(), key: '' });
    else if (token === '[') open.push({ names: null, key: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof at?.key === 'number') at.key += 1;
    else if (token === ':' && at?.names) {
      at.key = JSON.parse(lastText) as string;
      if (at.names.has(at.key)) break;
      at.names.add(at.key);
    } else lastText = token;
  }
  const path = open.map(({ key }) => String(key));
  const last = path.findIndex(holdsCardNumber);
  return last === -1 ? path : path.slice(0, last);
}

type Node = { value: JsonValue; depth: number; key: string; parent: Node | null };

/**
 * Returns the number of names in all objects. Iterates with a list of its own: with recursion, the caller would decide how
 * deep the stack gets.
 */
function checkTree(root: JsonObject): number {
  let names = 0;
  const open: Node[] = [{ value: root, depth: 1, key: '', parent: null }];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { value } = node;
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) refuse(node, BROKEN_TEXT);
    if (isCardNumber(value)) refuse(node, CARD_NUMBER);
    if (typeof value !== 'object' || value === null) continue;
    if (node.depth > MAX_DEPTH) refuse(node, TOO_DEEP);
    const children = Object.entries(value);
    if (!Array.isArray(value)) names += children.length;
    for (const [key, child] of children) {
      const next = { value: child, depth: node.depth + 1, key, parent: node };
      if (isForbiddenKey(key)) refuse(next, FORBIDDEN_NAME);
      // The name is not in the answer: clients log error messages.
      if (holdsCardNumber(key)) refuse(node, CARD_NUMBER);
      if (isCardField(key, child)) refuse(next, CARD_FIELD);
      open.push(next);
    }
  }
  return names;
}

/** Throws the error of a body with a card number if one of the parameters of a path holds one. */
export function refuseCardNumbers(params: Readonly<Record<string, string>>): void {
  const found = Object.entries(params).find(([, value]) => holdsCardNumber(value));
  if (found) refuseAt([found[0]], CARD_NUMBER);
}

function isForbiddenKey(key: string): boolean {
  return (
    key === '__proto__' || key.startsWith('$') || key.includes('\0') || LONE_SURROGATE.test(key)
  );
}

function refuse(node: Node, message: string): never {
  const keys: string[] = [];
  for (let at: Node = node; at.parent !== null; at = at.parent) keys.unshift(at.key);
  return refuseAt(keys, message);
}

function refuseAt(keys: readonly string[], message: string): never {
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
