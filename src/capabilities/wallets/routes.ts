import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { rangeOf } from '../../platform/http/wire.js';
import { getBalance, listBalanceEntries } from './api.js';
import { presentBalance, presentEntry } from './presenter.js';
import type { Wallets } from './store.js';

/** The routes of the balance and of the statement. */
export const walletRoutes = ({ wallets: { store } }: { wallets: { store: Wallets } }): Route[] => [
  route(getBalance, async (ctx) => {
    const balance = await store.balance(callerOf(ctx).tenant.id);
    sendData(ctx, 200, presentBalance(balance, new Date()));
  }),

  route(listBalanceEntries, async (ctx, { query }) => {
    const { page, limit, type } = query;
    const listing = { page, limit, type, ...rangeOf(query) };
    const { items, total } = await store.entries(callerOf(ctx).tenant.id, listing);
    sendList(ctx, items.map(presentEntry), { page, limit, total });
  }),
];
