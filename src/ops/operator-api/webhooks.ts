import { z } from 'zod';
import { events } from '../../composition/operations.js';
import type { Within } from '../../core/webhooks/endpoint-changes.js';
import { MAX_ENDPOINTS, type Endpoint } from '../../core/webhooks/endpoints.js';
import { EVENT_PATTERN, fitsAny, MAX_PATTERNS } from '../../core/webhooks/event-filter.js';
import type { Delivery } from '../../core/webhooks/event.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import {
  anyId,
  existing,
  flag,
  LISTED,
  noSuch,
  printed,
  printedList,
  reason,
  reasonBody,
  refuseField,
  tenantId,
} from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';
import { HOUR_MS } from '../../shared/durations.js';

/** The longest overlap of two secrets. */
export const MAX_OVERLAP_HOURS = 24 * 30;
/** Changes of an endpoint's state. */
export const ENDPOINT_CHANGES = ['remove', 'disable', 'enable', 'resume'] as const;

const tag = 'Webhooks';

const patternsOfEvents = z.array(z.string().regex(EVENT_PATTERN)).min(1).max(MAX_PATTERNS);

/** Adds an endpoint for a tenant. */
export const addEndpoint = operation({
  id: 'addEndpoint',
  tag,
  method: 'post',
  path: '/webhooks/endpoints',
  summary: 'Add an endpoint; the answer shows its secret once',
  roles: WORKERS,
  body: z.strictObject({
    tenant: tenantId,
    url: plainText(2_000),
    events: patternsOfEvents.optional(),
    reason: reason.optional(),
  }),
  act: 'webhooks.endpoints.add',
  answer: { status: 200, data: orWaiting(z.object({ id: z.string(), secret: z.string() })) },
});

/** Lists endpoints. */
export const listEndpoints = operation({
  id: 'listEndpoints',
  tag,
  method: 'get',
  path: '/webhooks/endpoints',
  summary: 'List webhook endpoints',
  roles: READERS,
  query: z.strictObject({ tenant: tenantId.optional() }),
  answer: { status: 200, data: printedList },
});

/** Removes, disables, enables or resumes an endpoint. */
export const changeEndpoint = operation({
  id: 'changeEndpoint',
  tag,
  method: 'post',
  path: '/webhooks/endpoints/{id}/{change}',
  summary: 'Remove, disable, enable or resume an endpoint',
  roles: WORKERS,
  params: { id: anyId, change: z.enum(ENDPOINT_CHANGES) },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** Changes the events that an endpoint gets. */
export const updateEndpoint = operation({
  id: 'updateEndpoint',
  tag,
  method: 'put',
  path: '/webhooks/endpoints/{id}',
  summary: 'Change the events that an endpoint gets; null: all. It applies to events from then on',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ events: patternsOfEvents.nullable(), reason: reason.optional() }),
  answer: { status: 200, data: printed },
});

/** Sends a test event to an endpoint. */
export const pingEndpoint = operation({
  id: 'pingEndpoint',
  tag,
  method: 'post',
  path: '/webhooks/endpoints/{id}/ping',
  summary: 'Send a signed test event to an endpoint',
  roles: WORKERS,
  params: { id: anyId },
  body: reasonBody,
  answer: {
    status: 200,
    data: z.object({ id: z.string(), event: z.string(), delivery: z.string() }),
  },
});

/** Creates a new secret for an endpoint. */
export const rotateEndpoint = operation({
  id: 'rotateEndpoint',
  tag,
  method: 'post',
  path: '/webhooks/endpoints/{id}/rotate',
  summary: 'Create a new secret; until the overlap ends, both secrets sign',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({
    overlap_hours: z.number().min(0).max(MAX_OVERLAP_HOURS),
    reason: reason.optional(),
  }),
  act: 'webhooks.endpoints.rotate',
  answer: {
    status: 200,
    data: orWaiting(
      z.object({ id: z.string(), secret: z.string(), old_secret_signs_until: z.string() }),
    ),
  },
});

/** Lists the latest deliveries. */
export const listDeliveries = operation({
  id: 'listDeliveries',
  tag,
  method: 'get',
  path: '/webhooks/deliveries',
  summary: `List the latest ${LISTED} deliveries`,
  roles: READERS,
  query: z.strictObject({
    tenant: tenantId.optional(),
    resource: anyId.optional().meta({ description: 'The id of a record of the tenant.' }),
    dead: flag,
  }),
  answer: { status: 200, data: printedList },
});

/** Shows a delivery. */
export const getDelivery = operation({
  id: 'getDelivery',
  tag,
  method: 'get',
  path: '/webhooks/deliveries/{id}',
  summary: 'Show a delivery with all attempts',
  roles: READERS,
  params: { id: anyId },
  answer: {
    status: 200,
    data: z.object({ delivery: printed, attempts: printedList }),
  },
});

/** Sends a delivery again. */
export const redeliver = operation({
  id: 'redeliver',
  tag,
  method: 'post',
  path: '/webhooks/deliveries/{id}/redeliver',
  summary: 'Send a delivery again, with the whole schedule of retries before it',
  roles: WORKERS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** Sends an event to all present endpoints. */
export const replayEvent = operation({
  id: 'replayEvent',
  tag,
  method: 'post',
  path: '/webhooks/events/{id}/replay',
  summary: 'Send an event to all endpoints that its tenant has now',
  roles: WORKERS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** The routes for webhook endpoints, deliveries and events. */
export const webhookRoutes = (deps: OperatorDeps): Route[] => [
  addRoute(deps),
  rotateRoute(deps),
  ...endpointRoutes(deps),
  ...deliveryRoutes(deps),
];

const addRoute = (deps: OperatorDeps): Route =>
  route(addEndpoint, async (ctx, { body }) => {
    const { tenants, webhooks, audit } = deps;
    const { tenant, url, events: patterns, reason: why = null } = body;
    if (!(await tenants.get(tenant))) throw noSuch('tenant');
    const problem = await webhooks.problemWith(url);
    if (problem !== null) throw refuseField('url', `this address is not usable: ${problem}`);
    refuseUnused(patterns ?? []);
    const asked = actOf(ctx, 'webhooks.endpoints.add', tenant, { tenantId: tenant, reason: why });
    const act = await permit(deps, ctx, { act: asked, input: { body } }, { act: 'endpoint' });
    if (!act) return;
    const added = await audit.act(act, async (session) => {
      const result = await webhooks.endpoints.add(tenant, url, { events: patterns, session });
      const after = result && (await webhooks.endpoints.get(result.id, session));
      return result && { result, before: null, after: after && presentEndpoint(after) };
    });
    if (!added) {
      const message = `a tenant has at most ${MAX_ENDPOINTS} endpoints`;
      throw new ApiError('invalid_state', { message });
    }
    sendData(ctx, 200, added);
  });

/** Refuses a pattern that no event fits: it is mistyped, and the tenant would miss what it waits for. */
function refuseUnused(patterns: readonly string[]): void {
  const names = events.flatMap(({ when }) => Object.keys(when));
  const unused = patterns.find((pattern) => !names.some((name) => fitsAny([pattern], name)));
  if (unused !== undefined) throw refuseField('events', `no event fits ${unused}`);
}

const endpointRoutes = ({ webhooks, audit }: OperatorDeps): Route[] => [
  route(listEndpoints, async (ctx, { query }) => {
    sendData(ctx, 200, (await webhooks.endpoints.list(query.tenant)).map(presentEndpoint));
  }),

  route(changeEndpoint, async (ctx, { params: { id, change }, body }) => {
    const found = await existing(webhooks.endpoints.get(id), 'endpoint');
    const act = actOf(ctx, `webhooks.endpoints.${change}`, id, {
      tenantId: found.tenantId,
      reason: body.reason ?? null,
    });
    const within: Within = async (write) => {
      const done = await audit.act(act, async (session) => {
        const before = await webhooks.endpoints.get(id, session);
        if (!before || !(await write(session))) return null;
        const after = await webhooks.endpoints.get(id, session);
        const shown = { before: presentEndpoint(before), after: after && presentEndpoint(after) };
        return { result: true, ...shown };
      });
      return done !== null;
    };
    // It moves many deliveries, which is no single transaction: the entry comes first.
    const resume = async () => {
      await audit.record(act, { before: presentEndpoint(found) });
      return webhooks.resumeEndpoint(id);
    };
    const changes = {
      remove: () => webhooks.removeEndpoint(id, within),
      disable: () => webhooks.disableEndpoint(id, within),
      enable: resume,
      resume,
    };
    if (!(await changes[change]())) throw noSuch('endpoint');
    sendData(ctx, 200, { id, done: change });
  }),

  ...endpointContentRoutes({ webhooks, audit }),
];

const rotateRoute = (deps: OperatorDeps): Route =>
  route(rotateEndpoint, async (ctx, { params, body }) => {
    const { webhooks, audit } = deps;
    const { id } = params;
    const found = await existing(webhooks.endpoints.get(id), 'endpoint');
    const asked = actOf(ctx, 'webhooks.endpoints.rotate', id, {
      tenantId: found.tenantId,
      reason: body.reason ?? null,
    });
    const input = { params, body };
    const act = await permit(deps, ctx, { act: asked, input }, { act: 'endpoint_secret' });
    if (!act) return;
    const rotated = await audit.act(act, async (session) => {
      const before = await webhooks.endpoints.get(id, session);
      if (!before) return null;
      const result = await webhooks.endpoints.rotate(id, body.overlap_hours * HOUR_MS, session);
      const after = await webhooks.endpoints.get(id, session);
      const shown = { before: presentEndpoint(before), after: after && presentEndpoint(after) };
      return result && { result, ...shown };
    });
    if (!rotated) throw noSuch('endpoint');
    const { secret, until } = rotated;
    sendData(ctx, 200, { id, secret, old_secret_signs_until: until.toISOString() });
  });

/** Routes that change an endpoint's events, and that send it one. */
const endpointContentRoutes = ({
  webhooks,
  audit,
}: Pick<OperatorDeps, 'webhooks' | 'audit'>): Route[] => [
  route(updateEndpoint, async (ctx, { params: { id }, body }) => {
    const found = await existing(webhooks.endpoints.get(id), 'endpoint');
    refuseUnused(body.events ?? []);
    const why = { tenantId: found.tenantId, reason: body.reason ?? null };
    const updated = await audit.act(
      actOf(ctx, 'webhooks.endpoints.update', id, why),
      async (session) => {
        const before = await webhooks.endpoints.get(id, session);
        const after = await webhooks.endpoints.filter(id, body.events, session);
        return (
          before &&
          after && {
            result: after,
            before: presentEndpoint(before),
            after: presentEndpoint(after),
          }
        );
      },
    );
    if (!updated) throw noSuch('endpoint');
    sendData(ctx, 200, presentEndpoint(updated));
  }),

  route(pingEndpoint, async (ctx, { params: { id }, body }) => {
    const endpoint = await existing(webhooks.endpoints.get(id), 'endpoint');
    const why = { tenantId: endpoint.tenantId, reason: body.reason ?? null };
    const act = actOf(ctx, 'webhooks.endpoints.ping', id, why);
    const sent = await audit.act(act, async (session) => {
      const result = await webhooks.ping(endpoint, session);
      return result && { result, before: null, after: result };
    });
    if (!sent) throw new ApiError('invalid_state', { message: 'the endpoint is disabled' });
    sendData(ctx, 200, { id, ...sent });
  }),
];

const deliveryRoutes = ({ webhooks, audit }: OperatorDeps): Route[] => [
  route(listDeliveries, async (ctx, { query: { tenant, resource, dead } }) => {
    if (resource !== undefined && tenant === undefined) {
      throw refuseField('tenant', 'Name the tenant of the record.');
    }
    const of = {
      dead,
      limit: LISTED,
      ...(tenant !== undefined && { tenantId: tenant }),
      ...(resource !== undefined && { resource }),
    };
    sendData(ctx, 200, (await webhooks.deliveries.list(of)).map(presentDelivery));
  }),

  route(getDelivery, async (ctx, { params: { id } }) => {
    const found = await existing(webhooks.deliveries.get(id), 'delivery');
    const attempts = found.attempts.map(({ at, status, error, duration_ms: ms }) => ({
      at: at.toISOString(),
      status,
      error,
      duration_ms: ms,
    }));
    const delivery = { ...presentDelivery(found), sequence: found.sequence };
    sendData(ctx, 200, { delivery, attempts });
  }),

  route(redeliver, async (ctx, { params: { id }, body }) => {
    const found = await existing(webhooks.deliveries.get(id), 'delivery');
    const why = { tenantId: found.tenant_id, reason: body.reason ?? null };
    const act = actOf(ctx, 'webhooks.deliveries.redeliver', id, why);
    const delivery = await audit.act(act, async (session) => {
      const before = await webhooks.deliveries.get(id, session);
      const result = await webhooks.redeliver(id, session);
      if (!before || !result) return null;
      return { result, before: { status: before.status }, after: { status: result.status } };
    });
    if (!delivery) throw noSuch('delivery');
    sendData(ctx, 200, { id: delivery._id, status: delivery.status });
  }),

  route(replayEvent, async (ctx, { params: { id }, body }) => {
    const event = await existing(webhooks.deliveries.event(id), 'event');
    const why = { tenantId: event.tenant_id, reason: body.reason ?? null };
    const act = actOf(ctx, 'webhooks.events.replay', id, why);
    const deliveries = await audit.act(act, async (session) => {
      const result = await webhooks.replay(id, session);
      return result && { result, before: null, after: { deliveries: result } };
    });
    if (!deliveries) throw noSuch('event');
    sendData(ctx, 200, { id, deliveries });
  }),
];

const presentEndpoint = (endpoint: Endpoint) => ({
  id: endpoint.id,
  tenant: endpoint.tenantId,
  url: endpoint.url,
  events: endpoint.events,
  status: endpoint.status,
  failing_since: endpoint.failingSince?.toISOString() ?? null,
  secrets: endpoint.secrets,
  created_at: endpoint.createdAt.toISOString(),
});

const presentDelivery = (delivery: Delivery) => ({
  id: delivery._id,
  tenant: delivery.tenant_id,
  endpoint: delivery.endpoint_id,
  event: delivery.event_id,
  name: delivery.name,
  resource: delivery.resource_id,
  status: delivery.status,
  tries: delivery.attempt_count,
  retry_at: delivery.retry_at?.toISOString() ?? null,
  next_check_at: delivery.next_check_at?.toISOString() ?? null,
  created_at: delivery.created_at.toISOString(),
  delivered_at: delivery.delivered_at?.toISOString() ?? null,
});
