import { setCardSecurity } from './mutations.js';
import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { rangeOf } from '../../platform/http/wire.js';
import { presentTimelineEntry } from '../../core/instructions/api-fields.js';
import { timelineWithDeliveries } from '../../core/instructions/instruction.js';
import type { Deliveries } from '../../core/webhooks/deliveries.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { cardFinder, presentSecurity, securityOf, type CardParts } from '../cards/index.js';
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
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
}): Route[] {
  const { cards, cardAuthorizations, groupCommit, webhooks } = deps;
  const find = cardFinder(cards.store);
  const findAuthorization = async (ctx: Context, id: string) => {
    const found = await cardAuthorizations.store.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  };

  return [
    route(getCardSecurity, async (ctx, { params }) => {
      sendData(ctx, 200, presentSecurity(await find(ctx, params.card_id)));
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
      const { _id: card, tenant_id: tenantId } = await find(ctx, params.card_id);
      const { items, total } = await cardAuthorizations.store.list({ tenantId, card }, query);
      sendList(ctx, items.map(presentAuthorization), { ...query, total });
    }),

    route(listAuthorizations, async (ctx, { query }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const { card_id: card, status, limit, offset } = query;
      const listed = { tenantId, card, status, ...rangeOf(query) };
      const page = { limit, offset };
      const { items, total } = await cardAuthorizations.store.list(listed, page);
      sendList(ctx, items.map(presentAuthorization), { ...page, total });
    }),

    route(getAuthorization, async (ctx, { params }) => {
      sendData(ctx, 200, presentAuthorization(await findAuthorization(ctx, params.id)));
    }),

    route(getAuthorizationTimeline, async (ctx, { params, query }) => {
      const found = await findAuthorization(ctx, params.id);
      const events = await webhooks.deliveries.timelineOf(found.tenant_id, found._id);
      const all = timelineWithDeliveries(found, events).map(presentTimelineEntry);
      const items = all.slice(query.offset, query.offset + query.limit);
      sendList(ctx, items, { ...query, total: all.length });
    }),
  ];
}
