import { callerOf, type Context } from '../../platform/http/context.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { cardFinder } from '../cards/routes.js';
import type { CardOperation } from '../cards/card-operation.js';
import { presentOperation } from '../cards/presenter.js';
import type { CardOperations, Cards } from '../cards/store.js';
import { closeCard, lockCard, unlockCard } from './api.js';
import type { CardStateType } from './card-state.js';
import type { ChangeCardState } from './create.js';
import type { CardStateChangeBody } from './schema.js';

/** The routes that lock, unlock and close a card. */
export function cardStateRoutes(deps: {
  cards: Cards;
  cardOperations: CardOperations;
  cardOperationWatch: CompletionWaiter<CardOperation>;
  changeCardState: ChangeCardState;
  idempotency: Idempotency;
}): Route[] {
  const { cards, cardOperations, cardOperationWatch: watch, idempotency } = deps;
  const find = cardFinder(cards);

  type Request = { params: { id: string }; body: CardStateChangeBody };

  const answer =
    (type: CardStateType) =>
    async (ctx: Context, { params, body }: Request) => {
      const tenantId = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/cards/${params.id}`;
      await withIdempotency(
        ctx,
        { idempotency, resource: `${path}/operations`, path: `${path}/${type}` },
        async (claim) => deps.changeCardState(await find(ctx, params.id), type, body, claim),
        async (id, wait) => {
          const found =
            (await watch.waitForEnd(id, wait)) ?? (await cardOperations.get(tenantId, id));
          return found && presentOperation(found);
        },
      );
    };

  return [
    route(lockCard, answer('lock')),
    route(unlockCard, answer('unlock')),
    route(closeCard, answer('close')),
  ];
}
