import { z } from 'zod';
import type { Act } from '../../core/audit/entry.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import type { ProviderEventSelection } from '../../core/provider-events/store.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import {
  anyId,
  existing,
  flag,
  LISTED,
  printed,
  printedList,
  reason,
  reasonBody,
} from './schema.js';
import { actOf } from './sign-in.js';

/** Replays of one command. A further call takes the next ones. */
export const REPLAYED = 1_000;

const tag = 'Provider events';
const selecting = {
  provider: plainText(100).optional(),
  type: plainText(100).optional(),
};

/** Lists the latest provider events. */
export const listProviderEvents = operation({
  id: 'listProviderEvents',
  tag,
  method: 'get',
  path: '/provider-events',
  summary: `List the latest ${LISTED} provider events`,
  roles: READERS,
  query: z.strictObject({ ...selecting, card: anyId.optional(), attention: flag }),
  answer: { status: 200, data: printedList },
});

/** Shows a provider event. */
export const getProviderEvent = operation({
  id: 'getProviderEvent',
  tag,
  method: 'get',
  path: '/provider-events/{id}',
  summary: 'Show an event with its facts and its masked message',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: printed },
});

/** Applies a provider event again. */
export const replayProviderEvent = operation({
  id: 'replayProviderEvent',
  tag,
  method: 'post',
  path: '/provider-events/{id}/replay',
  summary: 'Apply a provider event again',
  roles: WORKERS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** Applies the failed provider events of a type again. */
export const replayProviderEvents = operation({
  id: 'replayProviderEvents',
  tag,
  method: 'post',
  path: '/provider-events/replays',
  summary: `Apply the failed events of a type again, at most ${REPLAYED}`,
  roles: WORKERS,
  body: z.strictObject({
    type: plainText(100),
    provider: plainText(100).optional(),
    reason: reason.optional(),
  }),
  answer: { status: 200, data: printedList },
});

/** The routes for provider events. */
export const providerEventRoutes = (deps: OperatorDeps): Route[] => {
  const { providerEvents } = deps;
  return [
    route(listProviderEvents, async (ctx, { query }) => {
      const found = await providerEvents.store.latest(selectionOf(query, LISTED));
      sendData(ctx, 200, found.map(presentRow));
    }),

    route(getProviderEvent, async (ctx, { params }) => {
      const event = await existing(providerEvents.store.find(params.id), 'event');
      sendData(ctx, 200, presentEvent(event));
    }),

    route(replayProviderEvent, async (ctx, { params: { id }, body }) => {
      const event = await existing(providerEvents.store.find(id), 'event');
      const why = { tenantId: event.tenant_id, reason: body.reason ?? null };
      sendData(ctx, 200, await replay(deps, event, actOf(ctx, 'provider-events.replay', id, why)));
    }),

    route(replayProviderEvents, async (ctx, { body: { type, provider, reason: why = null } }) => {
      const selection = selectionOf({ type, provider, attention: true }, REPLAYED);
      const replays = [];
      for (const event of await providerEvents.store.latest(selection)) {
        const of = { tenantId: event.tenant_id, reason: why };
        const act = actOf(ctx, 'provider-events.replay', event._id, of);
        replays.push(await replay(deps, event, act));
      }
      sendData(ctx, 200, replays);
    }),
  ];
};

type Selecting = {
  card?: string | undefined;
  provider?: string | undefined;
  type?: string | undefined;
  attention: boolean;
};

const selectionOf = (
  { card, provider, type, attention }: Selecting,
  limit: number,
): ProviderEventSelection => ({
  attention,
  limit,
  ...(card !== undefined && { card }),
  ...(provider !== undefined && { provider }),
  ...(type !== undefined && { type }),
});

/** Starts a replay, which the worker carries out. Its result is in the list, or in the replay that is returned here. */
async function replay({ providerEvents }: OperatorDeps, event: ProviderEvent, act: Act) {
  const owned = await providerEvents.withOwner(event, true);
  const { resource } = await providerEvents.replay(owned, null, act);
  return { id: event._id, replay: resource };
}

const presentRow = (event: ProviderEvent) => ({
  id: event._id,
  tenant: event.tenant_id,
  card: event.card_id,
  provider: event.provider,
  event: event.event,
  reference: event.facts[0]?.reference ?? null,
  status: event.status,
  outcome: event.result,
  tries: event.attempt_count,
  received_at: event.received_at.toISOString(),
  processed_at: event.processed_at?.toISOString() ?? null,
});

/** Every field is named here, so that a sealed secret is not shown. */
const presentEvent = (event: ProviderEvent) => ({
  ...presentRow(event),
  port: event.port,
  reading: event.reading,
  attention: event.attention && {
    since: event.attention.since.toISOString(),
    reason: event.attention.reason,
  },
  occurred_at: event.occurred_at?.toISOString() ?? null,
  facts: event.facts.map(({ subject, reference, state }) => ({
    subject,
    reference,
    state: Object.fromEntries(
      Object.entries(state).map(([name, value]) => [
        name,
        typeof value === 'bigint' ? Number(value) : value,
      ]),
    ),
  })),
  message: event.message,
});
