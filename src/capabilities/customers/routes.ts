import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { getCustomer, listCustomers } from './api.js';
import type { Customer } from './record.js';
import { presentCustomer } from './presenter.js';
import type { Customers } from './store.js';

/** The routes of customers. */
export function customerRoutes({
  customers: { store: customers },
}: {
  customers: { store: Customers };
}): Route[] {
  const find = customerFinder(customers);
  return [
    route(listCustomers, async (ctx, { query }) => {
      const { items, total } = await customers.list(callerOf(ctx).tenant.id, query);
      const { page, limit } = query;
      sendList(ctx, items.map(presentCustomer), { page, limit, total });
    }),

    route(getCustomer, async (ctx, { params }) => {
      sendData(ctx, 200, presentCustomer(await find(ctx, params.customer_id)));
    }),
  ];
}

/** Finds the caller's customer, or throws `not_found`, also for the customer of another tenant. */
export const customerFinder =
  (customers: Pick<Customers, 'get'>) =>
  async (ctx: Context, customerId: string): Promise<Customer> => {
    const found = await customers.get(callerOf(ctx).tenant.id, customerId);
    if (!found) throw new ApiError('not_found');
    return found;
  };
