import { readClaim } from '../idempotency/idempotency.js';
import type { Idempotency } from '../idempotency/store.js';
import type { Answer, Claim } from '../ledger/decide.js';
import { callerOf, type AppContext } from './context.js';
import { sendBytes } from './respond.js';

export type Answered = { answer: Answer; resource: string | null; replayed: boolean };

/**
 * Answers a POST under its idempotency key, if it names one: the first answer's bytes if there is one, else what
 * `execute` comes to. `execute` has to commit the claim together with what it makes. A 201 gets its `Location`.
 */
export async function answerOnce(
  ctx: AppContext,
  idempotency: Idempotency,
  execute: (claim: Claim | null) => Promise<Answered>,
): Promise<void> {
  const { tenant, kind } = callerOf(ctx);
  const claim = readClaim({
    owner: { tenant: tenant.id, kind },
    method: ctx.method,
    path: ctx.path,
    header: ctx.get('Idempotency-Key') || undefined,
    body: ctx.state.body?.json ?? {},
    now: new Date(),
  });
  const earlier = claim && (await idempotency.answerTo(claim));
  const { answer, resource, replayed } = earlier ?? (await execute(claim));
  if (replayed) ctx.set('Idempotent-Replayed', 'true');
  if (answer.status === 201 && resource) ctx.set('Location', `${ctx.path}/${resource}`);
  sendBytes(ctx, answer.status, answer.body);
}
