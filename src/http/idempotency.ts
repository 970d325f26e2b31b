import { readClaim } from '../idempotency/idempotency.js';
import type { Idempotency } from '../idempotency/store.js';
import type { Answer, Claim } from '../ledger/decide.js';
import { callerOf, type AppContext } from './context.js';
import { sendBytes } from './respond.js';

/** Where the API's routes are: locations and fingerprints must not depend on how a caller spelt the path. */
export const API_PREFIX = '/api/v1';

export type Answered = { answer: Answer; resource: string | null; replayed: boolean };

/**
 * Answers a POST under its idempotency key, if it names one: the first answer's bytes if there is one, else what
 * `execute` comes to. `execute` has to commit the claim together with what it makes. A 201 gets its `Location` under
 * `resource`, the route's own path.
 */
export async function answerOnce(
  ctx: AppContext,
  { idempotency, resource }: { idempotency: Idempotency; resource: string },
  execute: (claim: Claim | null) => Promise<Answered>,
): Promise<void> {
  const { tenant, kind } = callerOf(ctx);
  const claim = readClaim({
    owner: { tenant: tenant.id, kind },
    method: ctx.method,
    path: resource,
    header: headerOf(ctx),
    body: ctx.state.body?.json ?? {},
    now: new Date(),
  });
  const earlier = claim && (await idempotency.answerTo(claim));
  const { answer, resource: id, replayed } = earlier ?? (await execute(claim));
  if (replayed) ctx.set('Idempotent-Replayed', 'true');
  if (answer.status === 201 && id) ctx.set('Location', `${resource}/${id}`);
  sendBytes(ctx, answer.status, answer.body);
}

/** Empty is not absent: a client whose variable was empty believes that it is protected, and is told. */
function headerOf(ctx: AppContext): string | undefined {
  const header = ctx.req.headers['idempotency-key'];
  return Array.isArray(header) ? header.join() : header;
}
