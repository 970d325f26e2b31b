import { createHash } from 'node:crypto';
import { ApiError } from '../../shared/errors.js';
import type { Claim } from '../commit/saved-response.js';
import { textProblem } from '../../platform/http/messages.js';

const LIFETIME_MS = 24 * 60 * 60 * 1000;
const KEY = /^[\x20-\x7e]{1,255}$/;

/** The owner of idempotency keys. Secret and public keys of a tenant have separate ones. */
export type KeyOwner = { tenantId: string; kind: 'secret' | 'public' };

/**
 * The fingerprints of a request: the one that is stored, and those that it has under earlier keys. Keyed ones are for bodies
 * that can be guessed.
 */
export type Fingerprints = (request: string) => string[];

const plainFingerprints: Fingerprints = (request) => [
  createHash('sha256').update(request).digest('base64url'),
];

/**
 * The claim that a request makes, or null if it names no key. The key comes in the header (with or without the
 * quotes of the IETF draft) or in the body; both and different is refused. Secret and public keys never meet.
 */
export function readClaim(request: {
  owner: KeyOwner;
  method: string;
  path: string;
  header: string | undefined;
  body: Record<string, unknown>;
  now: Date;
  fingerprints?: Fingerprints;
}): Claim | null {
  const { idempotency_key: inBody, ...rest } = request.body;
  const header = request.header === undefined ? undefined : unquote(request.header);
  if (header !== undefined && !KEY.test(header)) throw keyError('Idempotency-Key', header);
  if (inBody !== undefined && (typeof inBody !== 'string' || !KEY.test(inBody))) {
    throw keyError('idempotency_key', inBody);
  }
  if (header !== undefined && inBody !== undefined && header !== inBody) {
    const message = 'The header Idempotency-Key and the field idempotency_key differ.';
    throw new ApiError('validation_error', { field: 'idempotency_key', message });
  }
  const key = header ?? inBody;
  if (key === undefined) return null;
  const { owner, method, path, now, fingerprints = plainFingerprints } = request;
  const [fingerprint = '', ...earlier] = fingerprints(`${method} ${path}\n${canonical(rest)}`);
  return {
    id: `${owner.tenantId}/${owner.kind}/${key}`,
    fingerprint,
    ...(earlier.length > 0 && { earlierFingerprints: earlier }),
    createdAt: now,
    expiresAt: new Date(now.getTime() + LIFETIME_MS),
  };
}

/** Decodes a quoted string of RFC 8941. Any other value is returned unchanged. */
const unquote = (value: string) =>
  /^"(.*)"$/.exec(value)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? value;

function keyError(field: string, key: unknown): ApiError {
  const problem =
    typeof key === 'string'
      ? (textProblem(key, 255) ?? 'must have printable ASCII characters only')
      : 'must be a string';
  const message = `The idempotency key ${problem}.`;
  return new ApiError('validation_error', { field, message });
}

/** A body as text. The order of its fields does not matter. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join()}}`;
}
