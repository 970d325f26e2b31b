import { z } from 'zod';
import type { CardAuthorization } from '../../capabilities/card-authorizations/record.js';
import { presentAuthorization } from '../../capabilities/card-authorizations/presenter.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import { askProvider } from './ask-provider.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { anyId, existing, flag, LISTED, printed, printedList, reason } from './schema.js';
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

/** Shows an authorization with everything that is known about it. */
export const getAuthorization = operation({
  id: 'getAuthorization',
  tag,
  method: 'get',
  path: '/card-authorizations/{id}',
  summary: 'Show an authorization with its messages, facts, payers and timeline',
  roles: READERS,
  params: { id: anyId },
  answer: {
    status: 200,
    data: z.object({
      record: printed,
      messages: printedList.meta({ description: 'Our decision on each request of the issuer.' }),
      facts: printedList.meta({ description: 'Approvals and reports, in the order of arrival.' }),
      payers: printedList.meta({
        description: 'Who paid what was taken and not returned, in the order of payment.',
      }),
      timeline: printedList,
    }),
  },
});

/** Asks the issuer about an authorization. */
export const verifyAuthorization = operation({
  id: 'verifyAuthorization',
  tag,
  method: 'post',
  path: '/card-authorizations/{id}/verify',
  summary: 'Ask the issuer about an authorization now, and book the reports that are missing',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  answer: { status: 200, data: printed },
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

/** The routes for card authorizations. The issuer decides their outcome; operators have it asked, and acknowledge. */
export const cardAuthorizationRoutes = (deps: OperatorDeps): Route[] => [
  ...questionRoutes(deps),

  route(acknowledgeAuthorization, async (ctx, { params, body }) => {
    const { cardAuthorizations, audit } = deps;
    const found = await find(deps, params.id);
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

const questionRoutes = (deps: OperatorDeps): Route[] => [
  route(listAuthorizations, async (ctx, { query: { card, attention } }) => {
    const query = { attention, limit: LISTED, ...(card !== undefined && { card }) };
    sendData(ctx, 200, (await deps.cardAuthorizations.store.latest(query)).map(row));
  }),

  route(getAuthorization, async (ctx, { params }) => {
    sendData(ctx, 200, present(await find(deps, params.id)));
  }),

  route(verifyAuthorization, async (ctx, { params, body }) => {
    const { _id: id, tenant_id: tenantId } = await find(deps, params.id);
    const act = actOf(ctx, 'card-authorizations.verify', id, { tenantId, reason: body.reason });
    await deps.audit.record(act, {});
    const differs = await askProvider(deps, { capability: 'card-authorizations', tenantId, id });
    const after = await find(deps, id);
    const outcome = differs ? `${differs.difference}: ${differs.outcome}` : 'agrees with us';
    sendData(ctx, 200, { ...row(after), issuer: outcome });
  }),
];

const find = ({ cardAuthorizations }: OperatorDeps, id: string): Promise<CardAuthorization> =>
  existing(cardAuthorizations.store.find(id), 'authorization');

const present = (found: CardAuthorization) => ({
  record: {
    ...presentAuthorization(found),
    tenant: found.tenant_id,
    provider: found.provider,
    token: found.token,
    card_owes_minor: toWireAmount(found.card_owes_minor ?? 0n),
    asked_next_at: found.verify_at?.toISOString() ?? null,
  },
  messages: found.messages.map((message) => ({
    message: message.message_id,
    kind: message.kind,
    amount_minor: toWireAmount(message.amount_minor),
    approved: message.approved,
    code: message.code,
  })),
  facts: found.facts.map(({ at, kind, key, amount_minor: amount }) => ({
    at: at.toISOString(),
    fact: kind,
    amount_minor: toWireAmount(amount),
    key,
  })),
  payers: found.payments.map(({ from, minor }) => ({ from, amount_minor: toWireAmount(minor) })),
  timeline: found.timeline.map((entry) => ({ ...entry, at: entry.at.toISOString() })),
});

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
