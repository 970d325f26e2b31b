import { z } from 'zod';
import { BREAK_KINDS, type Break } from '../../core/reconciliation/break.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import { askProvider } from './ask-provider.js';
import { explainBreak } from './break-explanations.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { anyId, existing, LISTED, printed, printedList, reason, reasonBody } from './schema.js';
import { assertPermitted, orAsk, orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

const tag = 'Reconciliation';

/** Lists the differences between Bursar and its providers. */
export const listBreaks = operation({
  id: 'listBreaks',
  tag,
  method: 'get',
  path: '/breaks',
  summary: `List breaks: open ones the longest open first, closed ones the latest first ${LISTED}`,
  roles: READERS,
  query: z.strictObject({
    kind: z.enum(BREAK_KINDS).optional(),
    provider: plainText(100).optional(),
    status: z.enum(['open', 'closed']).default('open'),
  }),
  answer: { status: 200, data: printedList },
});

/** Shows a break. */
export const getBreak = operation({
  id: 'getBreak',
  tag,
  method: 'get',
  path: '/breaks/{id}',
  summary: 'Show a break, what it means, and the acts that end it',
  roles: READERS,
  params: { id: anyId },
  answer: {
    status: 200,
    data: z.object({ break: printed, meaning: z.string(), acts: z.array(z.string()) }),
  },
});

/** Asks the provider about the record of a break, and applies its answer. */
export const askAboutBreak = operation({
  id: 'askAboutBreak',
  tag,
  method: 'post',
  path: '/breaks/{id}/ask',
  summary:
    'Ask the provider about the record of a break, apply the answer, and close the break if both agree',
  roles: WORKERS,
  params: { id: anyId },
  body: reasonBody,
  act: 'breaks.ask',
  answer: { status: 200, data: orWaiting(printed) },
});

/** Accepts a break as it is. */
export const closeBreak = operation({
  id: 'closeBreak',
  tag,
  method: 'post',
  path: '/breaks/{id}/close',
  summary: 'Close a break that is accepted as it is; moves no money',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  act: 'breaks.close',
  answer: { status: 200, data: orWaiting(printed) },
});

/** The routes for breaks. */
export const breakRoutes = (deps: OperatorDeps): Route[] => [
  route(listBreaks, async (ctx, { query: { kind, provider, status } }) => {
    const found = await deps.breaks.list({ kind, provider, status, limit: LISTED });
    sendData(ctx, 200, found.map(presentBreak));
  }),

  route(getBreak, async (ctx, { params: { id } }) => {
    const found = await find(deps, id);
    sendData(ctx, 200, { break: presentBreak(found), ...explainBreak(found) });
  }),

  route(askAboutBreak, async (ctx, { params: { id }, body }) => {
    const found = await find(deps, id);
    const why = { tenantId: found.tenant_id, reason: body.reason ?? null };
    const asked = {
      act: actOf(ctx, 'breaks.ask', id, why),
      state: breakState(found),
      input: { params: { id }, body },
    };
    const act = await permit(deps, ctx, asked, { act: 'reconciliation' });
    if (!act) return;
    await deps.audit.record(act, { before: breakState(found) });
    const { capability, tenant_id: tenantId, reference } = found;
    await askProvider(deps, { capability, tenantId, id: reference });
    sendData(ctx, 200, presentBreak(await find(deps, id)));
  }),

  route(closeBreak, async (ctx, { params: { id }, body }) => {
    const { tenant_id: tenantId } = await find(deps, id);
    const act = actOf(ctx, 'breaks.close', id, { tenantId, reason: body.reason });
    const closed = await orAsk(deps, ctx, { act, input: { params: { id }, body } }, () =>
      deps.audit.act(act, async (session) => {
        const { name: operator } = act.actor;
        const accepted = { operator, reason: body.reason };
        const after = await deps.breaks.accept(id, accepted, session);
        if (!after) return null;
        const before = breakState({ ...after, status: 'open' });
        const amountMinor = after.amount_minor;
        assertPermitted(deps, act, { act: 'accept_break', amountMinor }, before);
        return { result: after, before, after: breakState(after) };
      }),
    );
    if (closed === 'waits') return;
    if (!closed) throw new ApiError('invalid_state', { message: `${id} is not open.` });
    sendData(ctx, 200, presentBreak(closed));
  }),
];

const find = ({ breaks }: OperatorDeps, id: string): Promise<Break> =>
  existing(breaks.find(id), 'break');

/** The state of a break that an approval is for. */
export const breakState = (of: Break) => ({
  status: of.status,
  kind: of.kind,
  difference: of.difference,
  amount_minor: Number(of.amount_minor),
});

const presentBreak = (of: Break) => ({
  id: of._id,
  kind: of.kind,
  status: of.status,
  reference: of.reference,
  capability: of.capability,
  tenant: of.tenant_id,
  provider: of.provider,
  source: of.source,
  amount_minor: toWireAmount(of.amount_minor),
  difference: of.difference,
  seen: of.seen,
  created_at: of.opened_at.toISOString(),
  first_seen_at: of.first_seen_at.toISOString(),
  last_seen_at: of.last_seen_at.toISOString(),
  closed: of.closed && { ...of.closed, at: of.closed.at.toISOString() },
});
