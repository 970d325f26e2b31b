import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList, sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import type { Deliveries } from '../../core/webhooks/deliveries.js';
import { deadlineOf } from '../../platform/http/time-limit.js';
import { createTransfer, getTransfer, getTransferTimeline, listTransfers } from './api.js';
import type { CreateTransfer } from './create.js';
import { presentTimelineEntry } from '../../core/instructions/api-fields.js';
import { toListing } from '../../core/instructions/listing.js';
import { presentTransfer } from './presenter.js';
import type { Transfers } from './store.js';
import { timelineWithDeliveries } from '../../core/instructions/instruction.js';
import type { Transfer } from './record.js';

/** The routes of transfers. */
export function transferRoutes(deps: {
  transfers: { store: Transfers; waiter: CompletionWaiter<Transfer>; create: CreateTransfer };
  idempotency: Idempotency;
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
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
        async (id, wait) => {
          const transfer =
            (await waiter.waitForEnd({ tenantId: tenant.id, id }, wait)) ??
            (await transfers.get(tenant.id, id));
          return transfer && presentTransfer(transfer);
        },
      );
    }),

    route(listTransfers, async (ctx, { query }) => {
      const { items, total } = await transfers.list(callerOf(ctx).tenant.id, toListing(query));
      sendList(ctx, items.map(presentTransfer), { page: query.page, limit: query.limit, total });
    }),

    route(getTransfer, async (ctx, { params }) => {
      sendData(ctx, 200, presentTransfer(await find(ctx, params.id)));
    }),

    route(getTransferTimeline, async (ctx, { params, query }) => {
      const transfer = await find(ctx, params.id);
      const deliveries = await webhooks.deliveries.timelineOf(transfer.tenant_id, transfer._id);
      sendPage(ctx, timelineWithDeliveries(transfer, deliveries).map(presentTimelineEntry), query);
    }),
  ];

  /** Returns the caller's transfer. A transfer of another tenant is `not_found`, so that its existence does not leak. */
  async function find(ctx: Context, id: string): Promise<Transfer> {
    const found = await transfers.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  }
}
