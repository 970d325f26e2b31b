import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { RecordCollection, StoredRecord } from './collection.js';
import {
  findSavedResponse,
  refusalResponse,
  saveResponse,
  type AcceptResult,
  type Claim,
  type SavedResponse,
} from './saved-response.js';
import type { Reference, UnitOfWork } from './unit-of-work.js';

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
