import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import { getDispute, listDisputes } from './api.js';
import { presentDispute } from './presenter.js';
import type { Disputes } from './store.js';

/** The routes of disputes. */
export const disputeRoutes = ({
  disputes: { store },
}: {
  disputes: { store: Disputes };
}): Route[] => [
  route(listDisputes, async (ctx, { query }) => {
    const { page, limit, status, charge_reference: charge, sort } = query;
    const descending = sort.startsWith('-');
    const { tenant } = callerOf(ctx);
    const { items, total } = await store.list(tenant.id, {
      page,
      limit,
      status,
      charge,
      descending,
    });
    sendList(ctx, items.map(presentDispute), { page, limit, total });
  }),

  route(getDispute, async (ctx, { params }) => {
    const dispute = await store.get(callerOf(ctx).tenant.id, params.id);
    if (!dispute) throw new ApiError('not_found');
    sendData(ctx, 200, presentDispute(dispute));
  }),
];
