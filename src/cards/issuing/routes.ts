import { callerOf } from '../../http/context.js';
import { answerOnce, API_PREFIX } from '../../http/idempotency.js';
import { route, type Route } from '../../http/routes.js';
import type { Idempotency } from '../../idempotency/store.js';
import type { Watch } from '../../watch.js';
import { createCard } from '../api.js';
import type { Card } from '../card.js';
import { presentCard } from '../presenter.js';
import type { Cards } from '../store.js';
import type { CreateCard } from './create.js';

export function issuingRoutes(deps: {
  cards: Cards;
  cardWatch: Watch<Card>;
  createCard: CreateCard;
  idempotency: Idempotency;
}): Route[] {
  const { cards, cardWatch, idempotency } = deps;

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
  ];
}
