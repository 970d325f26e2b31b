import type { ApiError } from '../../shared/errors.js';
import type { GroupCommit } from '../commit/group-commit.js';
import type { Mutation } from '../commit/mutation.js';
import {
  findSavedResponse,
  refusalResponse,
  saveResponse,
  throwIfKeyReused,
  type AcceptResult,
  type Claim,
  type KeyClaim,
  type SavedResponse,
} from '../commit/accept.js';
import type { IdempotentResponse } from './with-idempotency.js';

/** An answer with the idempotency key that keeps it. */
export type SaveRefusal = {
  tenantId: string;
  claim: KeyClaim;
  answer: SavedResponse;
  /** The id of the record that the answer shows. Null, or missing from another release, if it shows none. */
  resource?: string | null;
};

/**
 * Saves an answer to a request that commits nothing, such as a refusal. It claims nothing but the key, so that a repeat gets the
 * same response. The name is that of the mutation between processes of different releases.
 */
export const saveRefusal: Mutation<SaveRefusal, AcceptResult> = {
  reads: ({ claim }) => ({ keys: [claim.id] }),
  decide: (uow, input, now) =>
    findSavedResponse(uow, input.claim, null, now) ??
    saveResponse(uow, input, input.answer, input.resource),
};

/** Refuses a request before any commit. With an idempotency key the refusal is saved, so that a repeat gets it again. */
export async function refuseRequest(
  groupCommit: Pick<GroupCommit, 'commit'>,
  { tenantId, claim, error }: { tenantId: string; claim: Claim | null; error: ApiError },
): Promise<IdempotentResponse> {
  return saveAnswer(groupCommit, { tenantId, claim, answer: refusalResponse(error) });
}

/**
 * Answers a request that commits nothing. With an idempotency key the answer is saved, so that a repeat gets it again. `resource` is
 * the record that the answer shows: its erasure removes the answer.
 */
export async function saveAnswer(
  groupCommit: Pick<GroupCommit, 'commit'>,
  {
    tenantId,
    claim,
    answer,
    resource = null,
  }: { tenantId: string; claim: Claim | null; answer: SavedResponse; resource?: string | null },
): Promise<IdempotentResponse> {
  if (claim === null || claim.id === null) return { answer, resource, replayed: false };
  const input = { tenantId, claim, answer, resource };
  return throwIfKeyReused(await groupCommit.commit(saveRefusal, input));
}
