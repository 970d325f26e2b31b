import { setCardSecurity } from './mutations.js';
import { ApiError } from '../../shared/errors.js';
import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import { rangeOf } from '../../platform/http/wire.js';
import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { presentSecurity, securityOf, type CardParts } from '../cards/index.js';
import {
  getAuthorization,
  getAuthorizationTimeline,
  getCardSecurity,
  listAuthorizations,
  listCardAuthorizations,
  putCardSecurity,
} from './api.js';
import { presentAuthorization } from './presenter.js';
import type { AuthorizationStore } from './store.js';

/** The routes of authorizations and security settings. */
export function cardAuthorizationRoutes(deps: {
  cards: Pick<CardParts, 'store'>;
  cardAuthorizations: { store: Pick<AuthorizationStore, 'get' | 'list'> };
  groupCommit: GroupCommit;
  webhooks: TimelineWebhooks;
}): Route[] {
  const { cards, cardAuthorizations, groupCommit, webhooks } = deps;
  const { store } = cardAuthorizations;

  return [
    route(getCardSecurity, async (ctx, { params }) => {
      sendData(ctx, 200, presentSecurity(await ownRecord(ctx, cards.store, params.card_id)));
    }),

    route(putCardSecurity, async (ctx, { params, body }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const whose = { tenantId, card: params.card_id };
      const input = { ...whose, security: securityOf(body) };
      const { card, refused } = await groupCommit.commit(setCardSecurity, input);
      if (!card) throw new ApiError('not_found');
      if (refused) {
        const message = `The card is ${card.status}.`;
        throw new ApiError('invalid_state', { message, details: { status: card.status } });
      }
      sendData(ctx, 200, presentSecurity(card));
    }),

    route(listCardAuthorizations, async (ctx, { params, query }) => {
      const { _id: card, tenant_id: tenantId } = await ownRecord(ctx, cards.store, params.card_id);
      const { items, total } = await store.list({ tenantId, card }, query);
      sendList(ctx, items.map(presentAuthorization), { ...query, total });
    }),

    route(listAuthorizations, async (ctx, { query }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const { card_id: card, status, limit, offset } = query;
      const listed = { tenantId, card, status, ...rangeOf(query) };
      const page = { limit, offset };
      const { items, total } = await store.list(listed, page);
      sendList(ctx, items.map(presentAuthorization), { ...page, total });
    }),

    route(getAuthorization, async (ctx, { params }) => {
      sendData(ctx, 200, presentAuthorization(await ownRecord(ctx, store, params.id)));
    }),

    route(getAuthorizationTimeline, async (ctx, { params, query }) => {
      await sendTimeline(ctx, webhooks, await ownRecord(ctx, store, params.id), query);
    }),
  ];
}
