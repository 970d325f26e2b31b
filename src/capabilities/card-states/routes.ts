import { callerOf, type Context } from '../../platform/http/context.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { presentOperation, type CardParts } from '../cards/index.js';
import { closeCard, lockCard, unlockCard } from './api.js';
import { type CardStateType } from './transitions.js';
import type { ChangeCardState } from './create.js';
import type { CardStateChangeBody } from './schema.js';

/** The routes that lock, unlock and close a card. */
export function cardStateRoutes(deps: {
  cards: Pick<CardParts, 'store' | 'operations' | 'operationWaiter'>;
  cardStates: { change: ChangeCardState };
  idempotency: Idempotency;
}): Route[] {
  const { cardStates, idempotency } = deps;
  const { store, operations, operationWaiter } = deps.cards;

  type Request = { params: { card_id: string }; body: CardStateChangeBody };

  const answer =
    (type: CardStateType) =>
    async (ctx: Context, { params, body }: Request) => {
      const tenantId = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/cards/${params.card_id}`;
      await withIdempotency(
        ctx,
        { idempotency, resource: `${path}/operations`, path: `${path}/${type}` },
        async (claim) =>
          cardStates.change(await ownRecord(ctx, store, params.card_id), type, body, claim),
        presentEnded({ waiter: operationWaiter, store: operations, tenantId }, presentOperation),
      );
    };

  return [
    route(lockCard, answer('lock')),
    route(unlockCard, answer('unlock')),
    route(closeCard, answer('close')),
  ];
}
