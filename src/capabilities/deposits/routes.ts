import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import { positionOf, rangeOf } from '../../platform/http/wire.js';
import type { VirtualAccountParts } from '../virtual-accounts/index.js';
import { getDeposit, listDeposits, listVirtualAccountDeposits } from './api.js';
import { presentDeposit } from './presenter.js';
import type { ListDepositsQuery } from './schema.js';
import type { DepositListing, Deposits } from './store.js';

/** The routes of deposits. */
export function depositRoutes(deps: {
  deposits: { store: Deposits };
  virtualAccounts: Pick<VirtualAccountParts, 'store'>;
}): Route[] {
  const { store: deposits } = deps.deposits;

  return [
    route(listDeposits, async (ctx, { query }) => {
      const { items, total } = await deposits.list(callerOf(ctx).tenant.id, listingOf(query));
      sendList(ctx, items.map(presentDeposit), { ...positionOf(query), total });
    }),

    route(getDeposit, async (ctx, { params }) => {
      sendData(ctx, 200, presentDeposit(await ownRecord(ctx, deposits, params.deposit_id)));
    }),

    route(listVirtualAccountDeposits, async (ctx, { params, query }) => {
      const account = await ownRecord(ctx, deps.virtualAccounts.store, params.id);
      const listing = { ...listingOf(query), accountId: account._id };
      const { items, total } = await deposits.list(account.tenant_id, listing);
      sendList(ctx, items.map(presentDeposit), { ...positionOf(query), total });
    }),
  ];
}

const listingOf = (
  query: Omit<ListDepositsQuery, 'session_id' | 'provider_reference'> & Partial<ListDepositsQuery>,
): DepositListing => ({
  ...positionOf(query),
  ...rangeOf(query),
  state: query.status,
  sessionId: query.session_id,
  reference: query.provider_reference,
  descending: query.sort.startsWith('-'),
});
