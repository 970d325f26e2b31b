import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
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
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
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
  webhooks: TimelineWebhooks;
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: cards, operations, waiter, create } = deps.cards;

  return [
    route(createCard, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/cards` },
        (claim) => create(tenant, body, claim),
        presentEnded({ waiter, store: cards, tenantId: tenant.id }, presentCard),
      );
    }),

    route(listCards, async (ctx, { query }) => {
      const { items, total } = await cards.list(callerOf(ctx).tenant.id, query);
      sendList(ctx, items.map(presentCard), { ...query, total });
    }),

    route(getCard, async (ctx, { params }) => {
      sendData(ctx, 200, presentCard(await ownRecord(ctx, cards, params.card_id)));
    }),

    route(getCardBalance, async (ctx, { params }) => {
      sendData(ctx, 200, presentBalance(await ownRecord(ctx, cards, params.card_id), new Date()));
    }),

    route(getCardOperation, async (ctx, { params }) => {
      sendData(ctx, 200, presentOperation(await findOperation(operations, ctx, params)));
    }),

    route(getCardOperationTimeline, async (ctx, { params, query }) => {
      const operation = await findOperation(operations, ctx, params);
      await sendTimeline(ctx, webhooks, operation, query);
    }),

    route(listCardFundings, async (ctx, { params, query }) => {
      const card = await ownRecord(ctx, cards, params.card_id);
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
  const found = await ownRecord(ctx, operations, operation);
  if (found.card_id !== id || !isShown(found)) throw new ApiError('not_found');
  return found;
}
