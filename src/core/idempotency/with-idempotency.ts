import { createHash } from 'node:crypto';
import { holdsCardNumber } from '../../shared/card-data.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { ApiError } from '../../shared/errors.js';
import type { Idempotency } from './store.js';
import {
  successResponse,
  type SavedResponse,
  type Claim,
  type KeyClaim,
} from '../commit/accept.js';
import { callerOf, type AppContext } from '../../platform/http/context.js';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { excludeFromLoad } from '../../platform/http/load.js';
import { textProblem } from '../../platform/http/messages.js';
import { readWait, untilClosed, type Wait } from '../../platform/http/prefer.js';
import { sendBytes, sendData } from '../../platform/http/respond.js';
import { refuseLate } from '../../platform/http/time-limit.js';

/** A saved or new response. `replayed` is true for a repeat of an earlier request. */
export type IdempotentResponse = {
  answer: SavedResponse;
  resource: string | null;
  replayed: boolean;
};

/**
 * Returns the created record's present state, once it has ended or the wait is over. Null if the client has
 * disconnected.
 */
export type Present = (resource: string, wait: Wait) => Promise<object | null>;

/** Presents a tenant's record as soon as it has ended, or as it is when the wait is over. */
export const presentEnded =
  <R>(
    {
      waiter,
      store,
      tenantId,
    }: {
      waiter: Pick<CompletionWaiter<R>, 'waitForEnd'>;
      store: { get(tenantId: string, id: string): Promise<R | null> };
      tenantId: string;
    },
    present: (record: R) => object,
  ): Present =>
  async (id, wait) => {
    const record =
      (await waiter.waitForEnd({ tenantId, id }, wait)) ?? (await store.get(tenantId, id));
    return record && present(record);
  };

/**
 * Answers a POST under its idempotency key: with the saved response if there is one, else with the result of `execute`,
 * which commits the claim together with the record. `resource` is the path of the `Location` of a 201; the record is
 * named there by the field `named`, or by its id. `path` is the path in the key's fingerprint, if it differs from
 * `resource`. With `present`, a client that sends `Prefer: wait` gets the record's present state, which takes the place of
 * the saved response before it is sent. With `waitMs`, every client gets it after at most that time. `fingerprints`
 * replaces the plain hash of the request.
 */
export async function withIdempotency(
  ctx: AppContext,
  {
    idempotency,
    resource,
    path = resource,
    named,
    waitMs = null,
    fingerprints,
  }: {
    idempotency: Idempotency;
    resource: string;
    path?: string;
    named?: string;
    waitMs?: number | null;
    fingerprints?: Fingerprints;
  },
  execute: (claim: Claim) => Promise<IdempotentResponse>,
  present?: Present,
): Promise<void> {
  const { tenant } = callerOf(ctx);
  const claim = claimOf(ctx, path, fingerprints);
  const { requestId } = ctx.state;
  const earlier = claim && (await idempotency.findResponse(tenant.id, claim));
  if (!earlier) refuseLate(ctx);
  const {
    answer,
    resource: id,
    replayed,
  } = earlier ?? (await execute({ ...(claim ?? { id: null }), requestId }));
  if (id !== null) ctx.state.resource = id;
  if (replayed) ctx.set('Idempotent-Replayed', 'true');
  const made = answer.status === 201 ? id : null;
  if (made) ctx.set('Location', `${resource}/${named ? nameIn(answer, named) : made}`);
  const seconds = made && present ? readWait(ctx.get('Prefer')) : null;
  const ms = waitMs ?? (seconds === null ? null : seconds * 1000);
  if (!made || !present || ms === null) return sendBytes(ctx, answer.status, answer.body);
  const signal = untilClosed(ctx);
  const latest = async (): Promise<SavedResponse | null> => {
    const state = await excludeFromLoad(ctx, present(made, { ms, signal }));
    if (state === null) return null;
    if (claim === null) return successResponse(state, answer.status);
    const key = { idempotency, tenantId: tenant.id, claim };
    return replaceResponse(key, answer, state, { again: () => present(made, { ms: 0, signal }) });
  };
  // The record is accepted, so an error would be wrong: the answer of the acceptance is sent if the database is away now.
  const sent = await latest().catch((error: unknown) => {
    if (isDatabaseUnavailable(error)) return answer;
    throw error;
  });
  if (seconds !== null) ctx.set('Preference-Applied', `wait=${seconds}`);
  // A client that has disconnected reads no answer.
  if (sent === null) return sendData(ctx, answer.status, null);
  sendBytes(ctx, sent.status, sent.body);
}

/** Requests that replace one response at the same moment are few: clients send repeats one after the other. */
const REPLACE_ATTEMPTS = 5;

/**
 * Saves the state that is about to be sent in place of the response under the key, so that no repeat shows an earlier
 * state. Each state was read after the response that it replaces. If another request has replaced that one meanwhile, the
 * state is read again.
 */
async function replaceResponse(
  key: { idempotency: Idempotency; tenantId: string; claim: KeyClaim },
  first: SavedResponse,
  state: object,
  { again }: { again: () => Promise<object | null> },
): Promise<SavedResponse> {
  const { idempotency, tenantId, claim } = key;
  let saved = first;
  let next = successResponse(state, first.status);
  for (let attempt = 1; ; attempt += 1) {
    if (next.body === saved.body || (await idempotency.replace(tenantId, claim, saved, next))) {
      return next;
    }
    const found = await idempotency.findResponse(tenantId, claim);
    // The key has expired, and its response with it.
    if (found === null) return next;
    saved = found.answer;
    const present = attempt === REPLACE_ATTEMPTS ? null : await again();
    // Nobody reads this answer, or others write faster: the saved response stands.
    if (present === null) return saved;
    next = successResponse(present, first.status);
  }
}

function claimOf(ctx: AppContext, path: string, fingerprints?: Fingerprints): KeyClaim | null {
  const { tenant, kind } = callerOf(ctx);
  return readClaim({
    owner: { tenantId: tenant.id, kind },
    method: ctx.method,
    path,
    header: headerOf(ctx),
    body: ctx.state.body?.json ?? {},
    now: new Date(),
    ...(fingerprints && { fingerprints }),
  });
}

/** The tenant's reference of the created record, encoded for a path. */
function nameIn({ body }: SavedResponse, field: string): string {
  const { data } = JSON.parse(body) as { data: Record<string, string> };
  return encodeURIComponent(String(data[field]));
}

/**
 * Returns the header. An empty header is kept, so that it is refused: it usually comes from an unset variable in the
 * client. A repeated header is refused, because Node would join both into a key that the client never sent.
 */
function headerOf(ctx: AppContext): string | undefined {
  const lines = ctx.req.headersDistinct['idempotency-key'] ?? [];
  if (lines.length > 1) {
    const message = 'The header Idempotency-Key was sent more than once.';
    throw new ApiError('validation_error', { field: 'Idempotency-Key', message });
  }
  const [key] = lines;
  if (key !== undefined && holdsCardNumber(key)) {
    const message = 'The header Idempotency-Key must not hold a card number.';
    throw new ApiError('validation_error', { field: 'Idempotency-Key', message });
  }
  return key;
}

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
}): KeyClaim | null {
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
