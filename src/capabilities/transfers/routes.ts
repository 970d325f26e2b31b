import { callerOf } from '../../platform/http/context.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { deadlineOf } from '../../platform/http/time-limit.js';
import { createTransfer, getTransfer, getTransferTimeline, listTransfers } from './api.js';
import type { CreateTransfer } from './create.js';
import { toListing } from '../../core/instructions/listing.js';
import { presentTransfer } from './presenter.js';
import type { Transfers } from './store.js';
import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
import type { Transfer } from './record.js';

/** The routes of transfers. */
export function transferRoutes(deps: {
  transfers: { store: Transfers; waiter: CompletionWaiter<Transfer>; create: CreateTransfer };
  idempotency: Idempotency;
  webhooks: TimelineWebhooks;
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: transfers, waiter, create } = deps.transfers;

  return [
    route(createTransfer, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/transfers` },
        (claim) => create(tenant, body, claim, deadlineOf(ctx)),
        presentEnded({ waiter, store: transfers, tenantId: tenant.id }, presentTransfer),
      );
    }),

    route(listTransfers, async (ctx, { query }) => {
      const { items, total } = await transfers.list(callerOf(ctx).tenant.id, toListing(query));
      sendList(ctx, items.map(presentTransfer), { page: query.page, limit: query.limit, total });
    }),

    route(getTransfer, async (ctx, { params }) => {
      sendData(ctx, 200, presentTransfer(await ownRecord(ctx, transfers, params.id)));
    }),

    route(getTransferTimeline, async (ctx, { params, query }) => {
      await sendTimeline(ctx, webhooks, await ownRecord(ctx, transfers, params.id), query);
    }),
  ];
}
