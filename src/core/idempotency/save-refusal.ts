import type { ApiError } from '../../shared/errors.js';
import type { IdempotentResponse } from './with-idempotency.js';
import type { SaveRefusal } from '../commit/mutations.js';
import {
  refusalResponse,
  throwIfKeyReused,
  type AcceptResult,
  type Claim,
} from '../commit/unit-of-work.js';

/** Refuses what is refused before any commit; under a key that is kept, too, and a retry gets the same answer. */
export async function refuseRequest(
  store: { accept(item: SaveRefusal): Promise<AcceptResult> },
  { tenantId, claim, error }: { tenantId: string; claim: Claim | null; error: ApiError },
): Promise<IdempotentResponse> {
  const answer = refusalResponse(error);
  if (!claim) return { answer, resource: null, replayed: false };
  return throwIfKeyReused(await store.accept({ kind: 'refusal', tenantId, claim, answer }));
}
