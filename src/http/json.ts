import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors.js';
import type { JsonObject, JsonValue } from './context.js';

/** Deeper than any field of ours; metadata has a tighter bound of its own. */
const MAX_DEPTH = 16;
/** A path in an answer is made of the client's own keys, so it is cut. */
const MAX_PATH_LENGTH = 200;
/** Half a character: MongoDB would store another text than the one that was sent. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const BROKEN_TEXT = 'The text has an unpaired surrogate: it must be valid Unicode.';
const TOO_DEEP = `The body must be at most ${MAX_DEPTH} levels deep.`;
const FORBIDDEN_NAME =
  'A name must not begin with $, be __proto__, or contain NUL or an unpaired surrogate.';

/**
 * A JSON object that is safe to carry on: valid UTF-8, not too deep, and without keys or texts that the database or
 * JavaScript would read as something else. Throws `validation_error` that names the path.
 */
export function parseJsonObject(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  let value: JsonValue;
  try {
    value = JSON.parse(bytes.toString('utf8')) as JsonValue;
  } catch {
    // The parser's own message quotes the body.
    throw malformed('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body must be a JSON object.');
  }
  checkTree(value);
  return value;
}

type Node = { value: JsonValue; depth: number; key: string; parent: Node | null };

/** Walks with a list of its own: recursion would let the caller choose how deep our stack gets. */
function checkTree(root: JsonObject): void {
  const open: Node[] = [{ value: root, depth: 1, key: '', parent: null }];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { value } = node;
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) refuse(node, BROKEN_TEXT);
    if (typeof value !== 'object' || value === null) continue;
    if (node.depth > MAX_DEPTH) refuse(node, TOO_DEEP);
    for (const [key, child] of Object.entries(value)) {
      const next = { value: child, depth: node.depth + 1, key, parent: node };
      if (isForbiddenKey(key)) refuse(next, FORBIDDEN_NAME);
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
    field,
    message,
    details: { issues: [{ field, code: 'not_allowed', message }] },
  });
}

function malformed(message: string): ApiError {
  return new ApiError('validation_error', {
    field: 'body',
    message,
    details: { issues: [{ field: 'body', code: 'malformed', message }] },
  });
}
