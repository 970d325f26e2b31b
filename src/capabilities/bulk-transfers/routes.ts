import { ApiError } from '../../shared/errors.js';
import { callerOf } from '../../platform/http/context.js';
import { withIdempotency, API_PREFIX } from '../../core/idempotency/with-idempotency.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { createBulkTransfer, getBulkTransfer } from '../transfers/api.js';
import { presentBatch, type BulkTransfer } from './bulk-transfer.js';
import type { Batches } from './store.js';
import type { CreateBulk } from './create.js';

export function bulkTransferRoutes(deps: {
  bulkTransfers: Batches;
  bulkTransferWatch: CompletionWaiter<BulkTransfer>;
  createBulk: CreateBulk;
  idempotency: Idempotency;
}): Route[] {
  const { bulkTransfers, bulkTransferWatch, createBulk, idempotency } = deps;

  return [
    route(createBulkTransfer, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/transfers/bulk` },
        (claim) => createBulk(tenant, body.transfers, claim, ctx.state.withoutDeadline),
        async (id, wait) => {
          await bulkTransferWatch.waitForEnd(id, wait);
          const batch = await bulkTransfers.get(tenant.id, id);
          return batch && presentBatch(batch, await bulkTransfers.statuses(batch));
        },
      );
    }),

    route(getBulkTransfer, async (ctx, { params }) => {
      const found = await bulkTransfers.get(callerOf(ctx).tenant.id, params.id);
      if (!found) throw new ApiError('not_found');
      sendData(ctx, 200, presentBatch(found, await bulkTransfers.statuses(found)));
    }),
  ];
}
