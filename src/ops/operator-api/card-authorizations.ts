import { z } from 'zod';
import type { CardAuthorization } from '../../capabilities/card-authorizations/record.js';
import { presentAuthorization } from '../../capabilities/card-authorizations/presenter.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { anyId, flag, LISTED, noSuch, printed, printedList, reason } from './schema.js';
import { actOf } from './sign-in.js';

const tag = 'Card authorizations';

/** Lists the latest authorizations of a card, or those that need an operator. */
export const listAuthorizations = operation({
  id: 'listAuthorizations',
  tag,
  method: 'get',
  path: '/card-authorizations',
  summary: `List the latest ${LISTED} of a card, or those that need an operator`,
  roles: READERS,
  query: z.strictObject({ card: anyId.optional(), attention: flag }),
  answer: { status: 200, data: printedList },
});

/** Shows an authorization with its timeline. */
export const getAuthorization = operation({
  id: 'getAuthorization',
  tag,
  method: 'get',
  path: '/card-authorizations/{id}',
  summary: 'Show an authorization with its timeline',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: z.object({ record: printed, timeline: printedList }) },
});

/** Clears the attention of an authorization. */
export const acknowledgeAuthorization = operation({
  id: 'acknowledgeAuthorization',
  tag,
  method: 'post',
  path: '/card-authorizations/{id}/acknowledge',
  summary: 'Clear the attention of an authorization; no money moves',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  answer: { status: 200, data: printed },
});

/** The routes for card authorizations. The issuer decides their outcome; operators inspect them and acknowledge. */
export const cardAuthorizationRoutes = ({ cardAuthorizations, audit }: OperatorDeps): Route[] => [
  route(listAuthorizations, async (ctx, { query: { card, attention } }) => {
    const query = { attention, limit: LISTED, ...(card !== undefined && { card }) };
    sendData(ctx, 200, (await cardAuthorizations.store.latest(query)).map(row));
  }),

  route(getAuthorization, async (ctx, { params }) => {
    const found = await cardAuthorizations.store.find(params.id);
    if (!found) throw noSuch('authorization');
    const record = { ...presentAuthorization(found), tenant: found.tenant_id };
    const timeline = found.timeline.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
    sendData(ctx, 200, { record, timeline });
  }),

  route(acknowledgeAuthorization, async (ctx, { params, body }) => {
    const found = await cardAuthorizations.store.find(params.id);
    if (!found) throw noSuch('authorization');
    const { _id: id, tenant_id: tenantId, attention } = found;
    const act = actOf(ctx, 'card-authorizations.acknowledge', id, {
      tenantId,
      reason: body.reason,
    });
    const done = await audit.act(act, async (session) => {
      if (!(await cardAuthorizations.store.acknowledge(found, session))) return null;
      const before = { attention: attention?.reason ?? null };
      return { result: true, before, after: { attention: null } };
    });
    if (!done) {
      const message = 'It has no attention, or changed in this moment: show it again.';
      throw new ApiError('invalid_state', { message });
    }
    sendData(ctx, 200, { id, acknowledged: attention?.reason ?? null });
  }),
];

const row = (authorization: Omit<CardAuthorization, 'timeline'>) => ({
  id: authorization._id,
  card: authorization.card_id,
  tenant: authorization.tenant_id,
  status: authorization.status,
  amount_minor: toWireAmount(authorization.amount_minor),
  held_minor: toWireAmount(authorization.held_minor),
  cleared_minor: toWireAmount(authorization.cleared_minor),
  attention: authorization.attention?.reason ?? null,
  created_at: authorization.created_at.toISOString(),
});
