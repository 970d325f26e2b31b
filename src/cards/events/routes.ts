import { ApiError } from '../../errors.js';
import { callerOf, type Context } from '../../http/context.js';
import { answerOnce, API_PREFIX } from '../../http/idempotency.js';
import type { createSafeguard } from '../../http/rate-limit.js';
import { sendData, sendList } from '../../http/respond.js';
import { route, type Route } from '../../http/routes.js';
import type { Idempotency } from '../../idempotency/store.js';
import type { Card } from '../card.js';
import { getCardEventReplay, listCardEvents, replayCardEvent } from './api.js';
import type { CardEvents } from './card-events.js';
import { presentCardEvent, presentReplay } from './presenter.js';

export function cardEventRoutes(deps: {
  cards: { get(tenant: string, id: string): Promise<Card | null> };
  cardEvents: CardEvents;
  idempotency: Idempotency;
  safeguard: ReturnType<typeof createSafeguard>;
}): Route[] {
  const { cards, cardEvents, idempotency, safeguard } = deps;
  const { store, replays, replayWatch } = cardEvents;

  return [
    route(listCardEvents, async (ctx, { params, query }) => {
      await safeguard(ctx, 'card_events');
      const tenant = callerOf(ctx).tenant.id;
      if (!(await cards.get(tenant, params.card_id))) throw new ApiError('not_found');
      const { items, total } = await store.list({ tenant, card: params.card_id }, query);
      const { page, limit } = query;
      sendList(ctx, items.map(presentCardEvent), { page, limit, total });
    }),

    route(replayCardEvent, async (ctx, { params }) => {
      const tenant = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/webhooks/cards/events/${params.event_id}`;
      await answerOnce(
        ctx,
        { idempotency, resource: `${path}/replays`, path: `${path}/replay` },
        async (claim) => {
          const event = await store.get(tenant, params.event_id);
          if (!event) throw new ApiError('not_found');
          return cardEvents.replay({ ...event, tenant }, claim);
        },
        async (id, wait) => {
          const replay = (await replayWatch.ended(id, wait)) ?? (await replays.get(tenant, id));
          return replay && presentReplay(replay);
        },
      );
    }),

    route(getCardEventReplay, async (ctx, { params }) => {
      const replay = await findReplay(ctx, params.id);
      if (replay.event !== params.event_id) throw new ApiError('not_found');
      sendData(ctx, 200, presentReplay(replay));
    }),
  ];

  async function findReplay(ctx: Context, id: string) {
    const found = await replays.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  }
}
