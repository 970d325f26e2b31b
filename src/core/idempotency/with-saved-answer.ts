import { ApiError } from '../../shared/errors.js';
import { callerOf, type AppContext } from '../../platform/http/context.js';
import type { GroupCommit } from '../commit/group-commit.js';
import { refusalResponse, successResponse, type SavedResponse } from '../commit/accept.js';
import { saveAnswer } from './save-refusal.js';
import type { Idempotency } from './store.js';
import { withIdempotency, type Fingerprints } from './with-idempotency.js';

/** The parts that answers are saved with. */
export type AnswerKeeper = {
  idempotency: Idempotency;
  groupCommit: Pick<GroupCommit, 'commit'>;
};

const REFUSED_BY_A_RULE = 422;

/** Data that is not saved, because a provider has not answered: a repeat under the same key executes the request again. */
export class UnsavedAnswer {
  constructor(readonly data: object) {}
}

/**
 * Answers a POST that creates nothing, such as a question to a provider, with the data that `execute` returns. The answer is saved
 * under the idempotency key, so that a repeat gets it again. So is a refusal by a rule (422). Other errors, for example of a
 * provider that does not answer, are not saved, nor is an `UnsavedAnswer`. `execute` must be safe to repeat: of two requests at
 * the same moment both execute it, and the first answer that is saved is that of both. `path` is the path in the key's
 * fingerprint; `fingerprints` as in `withIdempotency`. `resource`: the id of the record that the answer shows.
 */
export async function withSavedAnswer(
  ctx: AppContext,
  { idempotency, groupCommit }: AnswerKeeper,
  {
    path,
    resource,
    fingerprints,
  }: { path: string; resource?: string; fingerprints?: Fingerprints },
  execute: () => Promise<object>,
): Promise<void> {
  const { tenant } = callerOf(ctx);
  const key = { idempotency, resource: path, ...(fingerprints && { fingerprints }) };
  await withIdempotency(ctx, key, async (claim) => {
    const { answer, isSaved } = await answerOf(execute);
    const saved = { tenantId: tenant.id, claim: isSaved ? claim : null, answer };
    return saveAnswer(groupCommit, { ...saved, ...(resource !== undefined && { resource }) });
  });
}

async function answerOf(
  execute: () => Promise<object>,
): Promise<{ answer: SavedResponse; isSaved: boolean }> {
  try {
    const executed = await execute();
    const isSaved = !(executed instanceof UnsavedAnswer);
    const data = isSaved ? executed : executed.data;
    return { answer: successResponse(data, 200), isSaved };
  } catch (error) {
    if (error instanceof ApiError && error.status === REFUSED_BY_A_RULE) {
      return { answer: refusalResponse(error), isSaved: true };
    }
    throw error;
  }
}
