import type { ApiError } from '../errors.js';
import type { Answered } from '../http/idempotency.js';
import type { RefusalItem } from '../ledger/kinds.js';
import { refusalAnswer, unlessReused, type AcceptOutcome, type Claim } from '../ledger/view.js';

/** Refuses what is refused before any commit; under a key that is kept, too, and a retry gets the same answer. */
export async function refuse(
  store: { accept(item: RefusalItem): Promise<AcceptOutcome> },
  { tenant, claim, error }: { tenant: string; claim: Claim | null; error: ApiError },
): Promise<Answered> {
  const answer = refusalAnswer(error);
  if (!claim) return { answer, resource: null, replayed: false };
  return unlessReused(await store.accept({ kind: 'refusal', tenant, claim, answer }));
}
