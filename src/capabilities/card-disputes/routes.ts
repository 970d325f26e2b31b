import type { GroupCommit } from '../../core/commit/group-commit.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { withSavedAnswer } from '../../core/idempotency/with-saved-answer.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CardIssuer } from '../../core/providers/card-issuer.js';
import { callerOf } from '../../platform/http/context.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import { rangeOf } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import type { CardAuthorizationParts } from '../card-authorizations/index.js';
import type { CardParts } from '../cards/index.js';
import { cancelCardDispute, createCardDispute, getCardDispute, listCardDisputes } from './api.js';
import { issuerIn, type CreateCardDispute } from './create.js';
import { cancelCardDispute as cancelMutation } from './mutations.js';
import { presentCardDispute } from './presenter.js';
import type { CardDisputes } from './store.js';

/** The routes of disputes of card payments. */
export function cardDisputeRoutes(deps: {
  cards: Pick<CardParts, 'operationWaiter'>;
  cardAuthorizations: { store: Pick<CardAuthorizationParts['store'], 'get'> };
  cardDisputes: { store: CardDisputes; create: CreateCardDispute };
  providers: { issuer(name: string): CardIssuer };
  groupCommit: Pick<GroupCommit, 'commit'>;
  idempotency: Idempotency;
}): Route[] {
  const { cards, cardAuthorizations, cardDisputes, providers, groupCommit, idempotency } = deps;
  const { store, create } = cardDisputes;

  return [
    route(createCardDispute, async (ctx, { params, body }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/cards/authorizations/${params.id}/disputes`;
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/cards/disputes`, path },
        async (claim) =>
          create(await ownRecord(ctx, cardAuthorizations.store, params.id), body, claim),
        async (id, wait) => {
          const accepted = await store.get(tenantId, id);
          if (!accepted) return null;
          const operation = { tenantId, id: accepted.operation_id };
          await cards.operationWaiter.waitForEnd(operation, wait);
          const dispute = await store.get(tenantId, id);
          return dispute && presentCardDispute(dispute);
        },
      );
    }),

    route(listCardDisputes, async (ctx, { query }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const { card_id: card, authorization_id: authorization, status, limit, offset } = query;
      const listed = { tenantId, card, authorization, status, ...rangeOf(query) };
      const page = { limit, offset };
      const { items, total } = await store.list(listed, page);
      sendList(ctx, items.map(presentCardDispute), { ...page, total });
    }),

    route(getCardDispute, async (ctx, { params }) => {
      sendData(ctx, 200, presentCardDispute(await ownRecord(ctx, store, params.id)));
    }),

    route(cancelCardDispute, async (ctx, { params }) => {
      const found = await ownRecord(ctx, store, params.id);
      const path = `${API_PREFIX}/cards/disputes/${found._id}/cancel`;
      await withSavedAnswer(ctx, deps, { path, resource: found._id }, async () => {
        if (!issuerIn(providers, found.provider)?.withdrawDispute) {
          const message = 'The issuer of this card withdraws no disputes.';
          throw new ApiError('invalid_state', { message });
        }
        const input = { tenantId: found.tenant_id, id: found._id };
        const { dispute, refused } = await groupCommit.commit(cancelMutation, input);
        if (!dispute) throw new ApiError('not_found');
        if (refused) {
          const { status, cancellation } = dispute;
          const message = `The dispute is ${status}, and can’t be cancelled.`;
          throw new ApiError('invalid_state', { message, details: { status, cancellation } });
        }
        return presentCardDispute(dispute);
      });
    }),
  ];
}
