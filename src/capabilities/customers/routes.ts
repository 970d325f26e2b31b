import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import { getCustomer, listCustomers } from './api.js';
import { presentCustomer } from './presenter.js';
import type { Customers } from './store.js';

/** The routes of customers. */
export function customerRoutes({
  customers: { store: customers },
}: {
  customers: { store: Customers };
}): Route[] {
  return [
    route(listCustomers, async (ctx, { query }) => {
      const { items, total } = await customers.list(callerOf(ctx).tenant.id, query);
      const { page, limit } = query;
      sendList(ctx, items.map(presentCustomer), { page, limit, total });
    }),

    route(getCustomer, async (ctx, { params }) => {
      sendData(ctx, 200, presentCustomer(await ownRecord(ctx, customers, params.customer_id)));
    }),
  ];
}
