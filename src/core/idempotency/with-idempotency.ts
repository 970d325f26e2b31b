import { ApiError } from '../../shared/errors.js';
import { readClaim } from './claim.js';
import type { Idempotency } from './store.js';
import type { SavedResponse, Claim } from '../commit/saved-response.js';
import { callerOf, type AppContext } from '../../platform/http/context.js';
import { excludeFromLoad } from '../../platform/http/load.js';
import { readWait, untilClosed, type Wait } from '../../platform/http/prefer.js';
import { sendBytes, sendData } from '../../platform/http/respond.js';
import { refuseLate } from '../../platform/http/time-limit.js';

/** A saved or new response. `replayed` is true for a repeat of an earlier request. */
export type IdempotentResponse = {
  answer: SavedResponse;
  resource: string | null;
  replayed: boolean;
};

/** The present state of the created record, once it has ended or the wait is over; null if the client is gone. */
export type Present = (resource: string, wait: Wait) => Promise<unknown>;

/**
 * Answers a POST under its idempotency key, if it names one: the first answer's bytes if there is one, else what
 * `execute` comes to. `execute` has to commit the claim together with what it makes. A 201 gets its `Location` under
 * `resource`: the route's own path unless `path` is another; by the field `named` of what was made, unless by its id.
 * If the route can present the created record, `Prefer: wait` gets its present state in place of the first bytes, also on
 * a retry. With `waitMs`, every caller gets it after at most that time.
 */
export async function withIdempotency(
  ctx: AppContext,
  {
    idempotency,
    resource,
    path = resource,
    named,
    waitMs = null,
  }: {
    idempotency: Idempotency;
    resource: string;
    path?: string;
    named?: string;
    waitMs?: number | null;
  },
  execute: (claim: Claim | null) => Promise<IdempotentResponse>,
  present?: Present,
): Promise<void> {
  const { tenant, kind } = callerOf(ctx);
  const claim = readClaim({
    owner: { tenantId: tenant.id, kind },
    method: ctx.method,
    path,
    header: headerOf(ctx),
    body: ctx.state.body?.json ?? {},
    now: new Date(),
  });
  const earlier = claim && (await idempotency.findResponse(claim));
  if (!earlier) refuseLate(ctx);
  const { answer, resource: id, replayed } = earlier ?? (await execute(claim));
  if (replayed) ctx.set('Idempotent-Replayed', 'true');
  const made = answer.status === 201 ? id : null;
  if (made) ctx.set('Location', `${resource}/${named ? nameIn(answer, named) : made}`);
  const seconds = made && present ? readWait(ctx.get('Prefer')) : null;
  const ms = waitMs ?? (seconds === null ? null : seconds * 1000);
  if (!made || !present || ms === null) return sendBytes(ctx, answer.status, answer.body);
  const state = await excludeFromLoad(ctx, present(made, { ms, signal: untilClosed(ctx) }));
  if (seconds !== null) ctx.set('Preference-Applied', `wait=${seconds}`);
  sendData(ctx, answer.status, state);
}

/** A tenant's own name for what was made, as it stands in a path. */
function nameIn({ body }: SavedResponse, field: string): string {
  const { data } = JSON.parse(body) as { data: Record<string, string> };
  return encodeURIComponent(String(data[field]));
}

/**
 * Empty is not absent: a client whose variable was empty believes that it is protected, and is told. Nor is sent twice
 * sent once: joined, two lines would be a key that neither of them names.
 */
function headerOf(ctx: AppContext): string | undefined {
  const lines = ctx.req.headersDistinct['idempotency-key'] ?? [];
  if (lines.length > 1) {
    const message = 'The header Idempotency-Key was sent more than once.';
    throw new ApiError('validation_error', { field: 'Idempotency-Key', message });
  }
  return lines[0];
}
