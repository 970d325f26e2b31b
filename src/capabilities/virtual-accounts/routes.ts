import { presentTimelineEntry } from '../../core/instructions/api-fields.js';
import { timelineWithDeliveries } from '../../core/instructions/instruction.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import type { Deliveries } from '../../core/webhooks/deliveries.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import type { Wait } from '../../platform/http/prefer.js';
import { sendData, sendList, sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { positionOf, rangeOf } from '../../platform/http/wire.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { ApiError } from '../../shared/errors.js';
import {
  closeVirtualAccount,
  createVirtualAccount,
  getVirtualAccount,
  getVirtualAccountTimeline,
  listVirtualAccounts,
} from './api.js';
import type { CloseVirtualAccount, CreateVirtualAccount } from './create.js';
import { presentAccount } from './presenter.js';
import type { ListVirtualAccountsQuery } from './schema.js';
import type { AccountListing, VirtualAccounts } from './store.js';
import type { VirtualAccount } from './record.js';

const RESOURCE = `${API_PREFIX}/virtual-accounts`;

/** The routes of virtual accounts. */
export function virtualAccountRoutes(deps: {
  virtualAccounts: {
    store: VirtualAccounts;
    waiter: CompletionWaiter<VirtualAccount>;
    create: CreateVirtualAccount;
    close: CloseVirtualAccount;
  };
  idempotency: Idempotency;
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: accounts, waiter, create, close } = deps.virtualAccounts;
  const find = accountFinder(accounts);

  const present = (tenantId: string) => async (id: string, wait: Wait) => {
    const account =
      (await waiter.waitForEnd({ tenantId, id }, wait)) ?? (await accounts.get(tenantId, id));
    return account && presentAccount(account);
  };

  return [
    route(createVirtualAccount, async (ctx, { body }) => {
      const tenantId = callerOf(ctx).tenant.id;
      await withIdempotency(
        ctx,
        { idempotency, resource: RESOURCE },
        (claim) => create(tenantId, body, claim),
        present(tenantId),
      );
    }),

    route(listVirtualAccounts, async (ctx, { query }) => {
      const listing = listingOf(query);
      const { items, total } = await accounts.list(callerOf(ctx).tenant.id, listing);
      sendList(ctx, items.map(presentAccount), { ...positionOf(query), total });
    }),

    route(getVirtualAccount, async (ctx, { params }) => {
      sendData(ctx, 200, presentAccount(await find(ctx, params.id)));
    }),

    route(closeVirtualAccount, async (ctx, { params }) => {
      const account = await find(ctx, params.id);
      const { tenant_id: tenantId, _id: id } = account;
      await withIdempotency(
        ctx,
        { idempotency, resource: RESOURCE, path: `${RESOURCE}/${id}/close` },
        (claim) => close(tenantId, id, claim),
        present(tenantId),
      );
    }),

    route(getVirtualAccountTimeline, async (ctx, { params, query }) => {
      const account = await find(ctx, params.id);
      const deliveries = await webhooks.deliveries.timelineOf(account.tenant_id, account._id);
      sendPage(ctx, timelineWithDeliveries(account, deliveries).map(presentTimelineEntry), query);
    }),
  ];
}

/** Finds the caller's account, or throws `not_found`, also for the account of another tenant. */
export const accountFinder =
  (accounts: Pick<VirtualAccounts, 'get'>) =>
  async (ctx: Context, id: string): Promise<VirtualAccount> => {
    const found = await accounts.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  };

const listingOf = (query: ListVirtualAccountsQuery): AccountListing => ({
  ...positionOf(query),
  ...rangeOf(query),
  status: query.status,
  customerId: query.customer_id,
  accountNumber: query.account_number,
  sort: {
    field: query.sort.replace('-', '') as AccountListing['sort']['field'],
    descending: query.sort.startsWith('-'),
  },
});
