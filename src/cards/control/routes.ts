import { callerOf, type Context } from '../../http/context.js';
import { answerOnce, API_PREFIX } from '../../http/idempotency.js';
import { route, type Route } from '../../http/routes.js';
import type { Idempotency } from '../../idempotency/store.js';
import type { Watch } from '../../watch.js';
import { cardFinder } from '../find.js';
import type { CardOperation } from '../operation.js';
import { presentOperation } from '../presenter.js';
import type { CardOperations, Cards } from '../store.js';
import { closeCard, lockCard, unlockCard } from './api.js';
import type { ControlType } from './control.js';
import type { ControlCard } from './create.js';
import type { ControlBody } from './schema.js';

export function cardControlRoutes(deps: {
  cards: Cards;
  cardOperations: CardOperations;
  cardOperationWatch: Watch<CardOperation>;
  controlCard: ControlCard;
  idempotency: Idempotency;
}): Route[] {
  const { cards, cardOperations, cardOperationWatch: watch, idempotency } = deps;
  const find = cardFinder(cards);

  type Asked = { params: { id: string }; body: ControlBody };

  const answer =
    (type: ControlType) =>
    async (ctx: Context, { params, body }: Asked) => {
      const tenant = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/cards/${params.id}`;
      await answerOnce(
        ctx,
        { idempotency, resource: `${path}/operations`, path: `${path}/${type}` },
        async (claim) => deps.controlCard(await find(ctx, params.id), type, body, claim),
        async (id, wait) => {
          const found = (await watch.ended(id, wait)) ?? (await cardOperations.get(tenant, id));
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
