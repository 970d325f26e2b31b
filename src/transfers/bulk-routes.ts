import { ApiError } from '../errors.js';
import { callerOf } from '../http/context.js';
import { answerOnce, API_PREFIX } from '../http/idempotency.js';
import { sendData } from '../http/respond.js';
import { route, type Route } from '../http/routes.js';
import type { Idempotency } from '../idempotency/store.js';
import type { Watch } from '../watch.js';
import { createBulkTransfer, getBulkTransfer } from './api.js';
import { presentBatch, type TransferBatch } from './batch.js';
import type { Batches } from './batches.js';
import type { CreateBulk } from './create-bulk.js';

export function bulkTransferRoutes(deps: {
  batches: Batches;
  batchWatch: Watch<TransferBatch>;
  createBulk: CreateBulk;
  idempotency: Idempotency;
}): Route[] {
  const { batches, batchWatch, createBulk, idempotency } = deps;

  return [
    route(createBulkTransfer, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await answerOnce(
        ctx,
        { idempotency, resource: `${API_PREFIX}/transfers/bulk` },
        (claim) => createBulk(tenant, body.transfers, claim, ctx.state.untimed),
        async (id, wait) => {
          await batchWatch.ended(id, wait);
          const batch = await batches.get(tenant.id, id);
          return batch && presentBatch(batch, await batches.statuses(batch));
        },
      );
    }),

    route(getBulkTransfer, async (ctx, { params }) => {
      const found = await batches.get(callerOf(ctx).tenant.id, params.id);
      if (!found) throw new ApiError('not_found');
      sendData(ctx, 200, presentBatch(found, await batches.statuses(found)));
    }),
  ];
}
