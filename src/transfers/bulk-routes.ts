import { ApiError } from '../errors.js';
import { jsonBody } from '../http/body.js';
import { callerOf, type AppRouter } from '../http/context.js';
import { answerOnce, API_PREFIX } from '../http/idempotency.js';
import { sendData } from '../http/respond.js';
import { validateBody } from '../http/validate.js';
import type { Idempotency } from '../idempotency/store.js';
import { isId } from '../ids.js';
import type { Watch } from '../watch.js';
import { presentBatch, type TransferBatch } from './batch.js';
import type { Batches } from './batches.js';
import type { CreateBulk } from './create-bulk.js';
import { bulkTransfersBody } from './schema.js';

/** A thousand items with short metadata. Who has more of it sends fewer at once. */
const MAX_BULK_BYTES = 1024 * 1024;

export function bulkTransferRoutes(
  router: AppRouter,
  deps: {
    batches: Batches;
    batchWatch: Watch<TransferBatch>;
    createBulk: CreateBulk;
    idempotency: Idempotency;
  },
): void {
  const { batches, batchWatch, createBulk, idempotency } = deps;

  router.post('/transfers/bulk', jsonBody({ maxBytes: MAX_BULK_BYTES }), async (ctx) => {
    const { transfers } = validateBody(bulkTransfersBody, ctx);
    const { tenant } = callerOf(ctx);
    await answerOnce(
      ctx,
      { idempotency, resource: `${API_PREFIX}/transfers/bulk` },
      (claim) => createBulk(tenant, transfers, claim),
      async (id, wait) => {
        await batchWatch.ended(id, wait);
        const batch = await batches.get(tenant.id, id);
        return batch && presentBatch(batch, await batches.statuses(batch));
      },
    );
  });

  router.get('/transfers/bulk/:id', async (ctx) => {
    const id = String(ctx.params.id);
    const found = isId('bulkTransfer', id) ? await batches.get(callerOf(ctx).tenant.id, id) : null;
    if (!found) throw new ApiError('not_found');
    sendData(ctx, 200, presentBatch(found, await batches.statuses(found)));
  });
}
