import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { withIdempotency } from '../idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import type { createSafeguard } from '../../platform/http/rate-limit.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../idempotency/store.js';
import { getCardEventReplay, listCardEvents, replayCardEvent } from './api.js';
import type { ProviderEvents } from './index.js';
import { presentCardEvent, presentReplay } from './presenter.js';

export function cardEventRoutes(deps: {
  cards: { get(tenantId: string, id: string): Promise<object | null> };
  providerEvents: ProviderEvents;
  idempotency: Idempotency;
  safeguard: ReturnType<typeof createSafeguard>;
}): Route[] {
  const { cards, providerEvents, idempotency, safeguard } = deps;
  const { store, replays, replayWatch } = providerEvents;

  return [
    route(listCardEvents, async (ctx, { params, query }) => {
      await safeguard(ctx, 'card_events');
      const tenantId = callerOf(ctx).tenant.id;
      if (!(await cards.get(tenantId, params.card_id))) throw new ApiError('not_found');
      const { items, total } = await store.list({ tenantId, card: params.card_id }, query);
      const { page, limit } = query;
      sendList(ctx, items.map(presentCardEvent), { page, limit, total });
    }),

    route(replayCardEvent, async (ctx, { params }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/webhooks/cards/events/${params.event_id}`;
      await withIdempotency(
        ctx,
        { idempotency, resource: `${path}/replays`, path: `${path}/replay` },
        async (claim) => {
          const event = await store.get(tenantId, params.event_id);
          if (!event) throw new ApiError('not_found');
          return providerEvents.replay({ ...event, tenant_id: tenantId }, claim);
        },
        async (id, wait) => {
          const replay =
            (await replayWatch.waitForEnd(id, wait)) ?? (await replays.get(tenantId, id));
          return replay && presentReplay(replay);
        },
      );
    }),

    route(getCardEventReplay, async (ctx, { params }) => {
      const replay = await findReplay(ctx, params.id);
      if (replay.event_id !== params.event_id) throw new ApiError('not_found');
      sendData(ctx, 200, presentReplay(replay));
    }),
  ];

  async function findReplay(ctx: Context, id: string) {
    const found = await replays.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  }
}
