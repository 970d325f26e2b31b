import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { presentTimelineEntry } from '../../core/instructions/api-fields.js';
import { timelineWithDeliveries } from '../../core/instructions/instruction.js';
import type { Deliveries } from '../../core/webhooks/deliveries.js';
import {
  createCard,
  getCard,
  getCardBalance,
  getCardOperation,
  getCardOperationTimeline,
  listCardFundings,
  listCards,
} from './api.js';
import { isShown, type CardOperation } from './card-operation.js';
import { presentBalance, presentCard, presentOperation } from './presenter.js';
import type { CardOperations, Cards } from './store.js';
import type { Card } from './record.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import type { CreateCard } from './create.js';

/** The routes of cards and of the operations on them. */
export function cardRoutes(deps: {
  cards: {
    store: Cards;
    operations: CardOperations;
    waiter: CompletionWaiter<Card>;
    create: CreateCard;
  };
  idempotency: Idempotency;
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: cards, operations, waiter, create } = deps.cards;
  const find = cardFinder(cards);

  return [
    route(createCard, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/cards` },
        (claim) => create(tenant, body, claim),
        async (id, wait) => {
          const card =
            (await waiter.waitForEnd({ tenantId: tenant.id, id }, wait)) ??
            (await cards.get(tenant.id, id));
          return card && presentCard(card);
        },
      );
    }),

    route(listCards, async (ctx, { query }) => {
      const { items, total } = await cards.list(callerOf(ctx).tenant.id, query);
      sendList(ctx, items.map(presentCard), { ...query, total });
    }),

    route(getCard, async (ctx, { params }) => {
      sendData(ctx, 200, presentCard(await find(ctx, params.card_id)));
    }),

    route(getCardBalance, async (ctx, { params }) => {
      sendData(ctx, 200, presentBalance(await find(ctx, params.card_id), new Date()));
    }),

    route(getCardOperation, async (ctx, { params }) => {
      sendData(ctx, 200, presentOperation(await findOperation(operations, ctx, params)));
    }),

    route(getCardOperationTimeline, async (ctx, { params, query }) => {
      const operation = await findOperation(operations, ctx, params);
      const events = await webhooks.deliveries.timelineOf(operation.tenant_id, operation._id);
      const all = timelineWithDeliveries(operation, events).map(presentTimelineEntry);
      const items = all.slice(query.offset, query.offset + query.limit);
      sendList(ctx, items, { ...query, total: all.length });
    }),

    route(listCardFundings, async (ctx, { params, query }) => {
      const card = await find(ctx, params.card_id);
      const { items, total } = await operations.fundings(card, query);
      sendList(ctx, items.map(presentOperation), { ...query, total });
    }),
  ];
}

/** The caller's operation on this card. Operations that tenants do not see are `not_found`. */
async function findOperation(
  operations: Pick<CardOperations, 'get'>,
  ctx: Context,
  { card_id: id, operation_id: operation }: { card_id: string; operation_id: string },
): Promise<CardOperation> {
  const found = await operations.get(callerOf(ctx).tenant.id, operation);
  if (found?.card_id !== id || !isShown(found)) throw new ApiError('not_found');
  return found;
}

/** Finds the caller's card, or throws `not_found`, also for the card of another tenant. */
export const cardFinder =
  (cards: Pick<Cards, 'get'>) =>
  async (ctx: Context, id: string): Promise<Card> => {
    const found = await cards.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  };
