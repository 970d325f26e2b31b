import { ApiError } from '../../shared/errors.js';
import { callerOf } from '../../platform/http/context.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { deadlineOf } from '../../platform/http/time-limit.js';
import { createBulkTransfer, getBulkTransfer } from './api.js';
import type { BulkTransfer } from './record.js';
import { presentBulkTransfer } from './presenter.js';
import type { BulkTransferStore } from './store.js';
import type { CreateBulkTransfer } from './create.js';

/** The routes of bulk transfers. */
export function bulkTransferRoutes(deps: {
  bulkTransfers: {
    store: BulkTransferStore;
    waiter: CompletionWaiter<BulkTransfer>;
    create: CreateBulkTransfer;
  };
  idempotency: Idempotency;
}): Route[] {
  const { idempotency } = deps;
  const { store: bulkTransfers, waiter, create } = deps.bulkTransfers;

  return [
    route(createBulkTransfer, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/transfers/bulk` },
        (claim) => create(tenant, body.transfers, claim, deadlineOf(ctx)),
        async (id, wait) => {
          await waiter.waitForEnd({ tenantId: tenant.id, id }, wait);
          const bulkTransfer = await bulkTransfers.get(tenant.id, id);
          return (
            bulkTransfer &&
            presentBulkTransfer(bulkTransfer, await bulkTransfers.statuses(bulkTransfer))
          );
        },
      );
    }),

    route(getBulkTransfer, async (ctx, { params }) => {
      const found = await bulkTransfers.get(callerOf(ctx).tenant.id, params.id);
      if (!found) throw new ApiError('not_found');
      sendData(ctx, 200, presentBulkTransfer(found, await bulkTransfers.statuses(found)));
    }),
  ];
}
