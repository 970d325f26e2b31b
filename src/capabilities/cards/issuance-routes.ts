import { callerOf } from '../../platform/http/context.js';
import { withIdempotency, API_PREFIX } from '../../core/idempotency/with-idempotency.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { createCard } from './api.js';
import type { Card } from './card.js';
import { presentCard } from './presenter.js';
import type { Cards } from './store.js';
import type { CreateCard } from './create.js';

export function cardIssuanceRoutes(deps: {
  cards: Cards;
  cardWatch: CompletionWaiter<Card>;
  createCard: CreateCard;
  idempotency: Idempotency;
}): Route[] {
  const { cards, cardWatch, idempotency } = deps;

  return [
    route(createCard, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/cards` },
        (claim) => deps.createCard(tenant, body, claim),
        async (id, wait) => {
          const card = (await cardWatch.waitForEnd(id, wait)) ?? (await cards.get(tenant.id, id));
          return card && presentCard(card);
        },
      );
    }),
  ];
}
