import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { callerOf } from '../../platform/http/context.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import { positionOf, rangeOf } from '../../platform/http/wire.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
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
  webhooks: TimelineWebhooks;
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: accounts, waiter, create, close } = deps.virtualAccounts;

  const present = (tenantId: string) =>
    presentEnded({ waiter, store: accounts, tenantId }, presentAccount);

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
      sendData(ctx, 200, presentAccount(await ownRecord(ctx, accounts, params.id)));
    }),

    route(closeVirtualAccount, async (ctx, { params }) => {
      const account = await ownRecord(ctx, accounts, params.id);
      const { tenant_id: tenantId, _id: id } = account;
      await withIdempotency(
        ctx,
        { idempotency, resource: RESOURCE, path: `${RESOURCE}/${id}/close` },
        (claim) => close(tenantId, id, claim),
        present(tenantId),
      );
    }),

    route(getVirtualAccountTimeline, async (ctx, { params, query }) => {
      await sendTimeline(ctx, webhooks, await ownRecord(ctx, accounts, params.id), query);
    }),
  ];
}

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
