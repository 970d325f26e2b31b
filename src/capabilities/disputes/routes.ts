import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
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
    sendData(ctx, 200, presentDispute(await ownRecord(ctx, store, params.id)));
  }),
];
