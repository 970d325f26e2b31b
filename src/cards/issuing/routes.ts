import { callerOf } from '../../http/context.js';
import { answerOnce, API_PREFIX } from '../../http/idempotency.js';
import { sendData, sendList } from '../../http/respond.js';
import { route, type Route } from '../../http/routes.js';
import type { Idempotency } from '../../idempotency/store.js';
import type { Watch } from '../../watch.js';
import { createCard, getCard, getCardBalance, listCards } from '../api.js';
import type { Card } from '../card.js';
import { cardFinder } from '../find.js';
import { presentBalance, presentCard } from '../presenter.js';
import type { Cards } from '../store.js';
import type { CreateCard } from './create.js';

export function cardRoutes(deps: {
  cards: Cards;
  cardWatch: Watch<Card>;
  createCard: CreateCard;
  idempotency: Idempotency;
}): Route[] {
  const { cards, cardWatch, idempotency } = deps;
  const find = cardFinder(cards);

  return [
    route(createCard, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await answerOnce(
        ctx,
        { idempotency, resource: `${API_PREFIX}/cards` },
        (claim) => deps.createCard(tenant, body, claim),
        async (id, wait) => {
          const card = (await cardWatch.ended(id, wait)) ?? (await cards.get(tenant.id, id));
          return card && presentCard(card);
        },
      );
    }),

    route(listCards, async (ctx, { query }) => {
      const { items, total } = await cards.list(callerOf(ctx).tenant.id, query);
      sendList(ctx, items.map(presentCard), { ...query, total });
    }),

    route(getCard, async (ctx, { params }) => {
      sendData(ctx, 200, presentCard(await find(ctx, params.id)));
    }),

    route(getCardBalance, async (ctx, { params }) => {
      sendData(ctx, 200, presentBalance(await find(ctx, params.id), new Date()));
    }),
  ];
}
