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
} from '../commit/saved-response.js';
import type { IdempotentResponse } from './with-idempotency.js';

/** A refusal with the idempotency key that keeps it. */
export type SaveRefusal = { tenantId: string; claim: KeyClaim; answer: SavedResponse };

/** Saves a refusal that was found before any commit: it claims nothing but its key, so that a repeat gets the same response. */
export const saveRefusal: Mutation<SaveRefusal, AcceptResult> = {
  reads: ({ claim }) => ({ keys: [claim.id] }),
  decide: (uow, input, now) =>
    findSavedResponse(uow, input.claim, null, now) ?? saveResponse(uow, input, input.answer),
};

/** Refuses a request before any commit. With an idempotency key the refusal is saved, so that a repeat gets it again. */
export async function refuseRequest(
  groupCommit: Pick<GroupCommit, 'commit'>,
  { tenantId, claim, error }: { tenantId: string; claim: Claim | null; error: ApiError },
): Promise<IdempotentResponse> {
  const answer = refusalResponse(error);
  if (claim === null || claim.id === null) return { answer, resource: null, replayed: false };
  return throwIfKeyReused(await groupCommit.commit(saveRefusal, { tenantId, claim, answer }));
}
