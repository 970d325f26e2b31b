import { ApiError, errorBody } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { RecordCollection, StoredRecord } from './collection.js';
import type { Reference, UnitOfWork } from './unit-of-work.js';

/** The final response to a request, as the bytes that a repeat of it gets again. */
export type SavedResponse = { status: number; body: string };

/** An idempotency key that is claimed together with the effect that it protects. */
export type KeyClaim = {
  id: string;
  fingerprint: string;
  /** Fingerprints that this request has under earlier keys, if its fingerprint is keyed. */
  earlierFingerprints?: string[];
  createdAt: Date;
  expiresAt: Date;
  /** The `X-Request-Id` of the request, which the records that it creates keep. */
  requestId?: string;
};

/** The claim of a request: its key, or without a key nothing but its id. */
export type Claim = KeyClaim | { id: null; requestId: string };

/** The idempotency keys that a mutation with this claim reads. */
export const keysOf = (claim: Claim | null): string[] =>
  claim === null || claim.id === null ? [] : [claim.id];

/** True if a claimed key belongs to this very request. */
export const isSameRequest = (
  { fingerprint, earlierFingerprints = [] }: KeyClaim,
  claimed: Pick<KeyClaim, 'fingerprint'>,
): boolean => [fingerprint, ...earlierFingerprints].includes(claimed.fingerprint);

/** A claimed key. `resource` is the id of the record that the response shows; null if it shows none. */
export type ClaimedKey = KeyClaim & {
  tenantId: string;
  answer: SavedResponse;
  resource: string | null;
};

/** The result of a request that creates something. */
export type AcceptResult =
  | { kind: 'answered'; answer: SavedResponse; resource: string | null; replayed: boolean }
  | { kind: 'key_reused' };

/** The response that a commit gave. Throws `idempotency_key_reused` if the key belongs to another request. */
export function throwIfKeyReused(result: AcceptResult) {
  if (result.kind === 'key_reused') throw new ApiError('idempotency_key_reused');
  return result;
}

/** The success envelope as a response that its key keeps. `data` comes from a presenter. */
export const successResponse = (data: object, status = 201): SavedResponse => ({
  status,
  body: JSON.stringify({ success: true, data }),
});

/** A refusal as a response that its key keeps. */
export const refusalResponse = (error: ApiError): SavedResponse => ({
  status: error.status,
  body: JSON.stringify(errorBody(error)),
});

/**
 * The response that is saved under a claimed key; null if the key is free or has expired. `own` is the id of the record
 * that this request would create: if the key names it, the response is that of this request's own earlier commit.
 */
export function findSavedResponse(
  uow: UnitOfWork,
  claim: Claim | null,
  own: string | null,
  now: Date,
): AcceptResult | null {
  if (claim === null || claim.id === null) return null;
  const earlier = uow.key(claim.id);
  if (!earlier || earlier.expiresAt <= now) return null;
  if (!isSameRequest(claim, earlier)) return { kind: 'key_reused' };
  const { answer, resource } = earlier;
  return { kind: 'answered', answer, resource, replayed: own === null || resource !== own };
}

/** Answers a request and saves the response under its key, if it has one. `resource`: the record that it shows. */
export function saveResponse(
  uow: UnitOfWork,
  { tenantId, claim }: { tenantId: string; claim: Claim | null },
  answer: SavedResponse,
  resource: string | null = null,
): AcceptResult {
  if (claim !== null && claim.id !== null) uow.claim({ ...claim, tenantId, answer, resource });
  return { kind: 'answered', answer, resource, replayed: false };
}

/**
 * Accepts a request once, in this sequence: the response that is saved under its key; the response of its own earlier
 * commit, whose result was lost; the decision of `admit`. `admit` makes every change and returns the record, or changes
 * nothing and returns a refusal. The response is saved under the key in both cases.
 */
export function acceptOnce<R extends StoredRecord>(
  uow: UnitOfWork,
  request: { tenantId: string; claim: Claim | null },
  now: Date,
  rules: {
    collection: RecordCollection<R>;
    /** The id of the record that this request would create. */
    id: string;
    response: (record: R) => SavedResponse;
    admit: () => R | ApiError;
    /** True if the first try reads too little to answer without writing the record; see `Mutation.reads`. */
    needsFullRead?: boolean;
  },
): AcceptResult {
  const { collection, id, response, admit, needsFullRead = false } = rules;
  const saved = findSavedResponse(uow, request.claim, id, now);
  if (saved) return saved;
  const own = uow.get(collection, id);
  if (own) {
    if (needsFullRead) uow.requireFullRead();
    return { kind: 'answered', answer: response(own), resource: id, replayed: false };
  }
  const admitted = admit();
  if (!(admitted instanceof ApiError)) return saveResponse(uow, request, response(admitted), id);
  if (needsFullRead) uow.requireFullRead();
  return saveResponse(uow, request, refusalResponse(admitted));
}

/** The refusal of a reference that another record has, or null. `field` is its name in the request. */
export function refuseTakenReference(
  uow: UnitOfWork,
  reference: Reference,
  field = 'reference',
): ApiError | null {
  const id = uow.reference(reference);
  return id === undefined ? null : new ApiError('duplicate_reference', { field, details: { id } });
}

/** The refusal of an amount that the wallet does not cover. `message` replaces the one for an amount with a fee. */
export const refuseUncovered = (
  requiredMinor: bigint,
  availableMinor: bigint,
  message?: string,
): ApiError =>
  new ApiError('insufficient_balance', {
    ...(message !== undefined && { message }),
    details: { required: toWireAmount(requiredMinor), available: toWireAmount(availableMinor) },
  });
