import { ApiError } from '../errors.js';
import { jsonBody } from '../http/body.js';
import { callerOf, type AppRouter, type Context } from '../http/context.js';
import { answerOnce, API_PREFIX } from '../http/idempotency.js';
import { sendData, sendList, sendPage } from '../http/respond.js';
import { validateBody, validateQuery } from '../http/validate.js';
import type { Idempotency } from '../idempotency/store.js';
import { isId } from '../ids.js';
import type { Watch } from '../watch.js';
import type { Deliveries } from '../webhooks/out/deliveries.js';
import type { CreateTransfer } from './create.js';
import { presentTimelineEntry, presentTransfer } from './presenter.js';
import {
  createTransferBody,
  listTransfersQuery,
  shortListQuery,
  type ListTransfersQuery,
} from './schema.js';
import type { TransferListing } from './lists.js';
import type { Transfers } from './store.js';
import { wholeTimeline } from './timeline.js';
import type { Transfer } from './transfer.js';

const DAY_MS = 24 * 60 * 60 * 1000;

export function transferRoutes(
  router: AppRouter,
  deps: {
    transfers: Transfers;
    transferWatch: Watch<Transfer>;
    createTransfer: CreateTransfer;
    idempotency: Idempotency;
    webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
  },
): void {
  const { transfers, transferWatch, createTransfer, idempotency, webhooks } = deps;

  router.post('/transfers', jsonBody(), async (ctx) => {
    const body = validateBody(createTransferBody, ctx);
    const { tenant } = callerOf(ctx);
    const resource = `${API_PREFIX}/transfers`;
    await answerOnce(
      ctx,
      { idempotency, resource },
      (claim) => createTransfer(tenant, body, claim),
      async (id, wait) => {
        const transfer =
          (await transferWatch.ended(id, wait)) ?? (await transfers.get(tenant.id, id));
        return transfer && presentTransfer(transfer);
      },
    );
  });

  router.get('/transfers', async (ctx) => {
    const query = validateQuery(listTransfersQuery, ctx);
    const { items, total } = await transfers.list(callerOf(ctx).tenant.id, listing(query));
    sendList(ctx, items.map(presentTransfer), { page: query.page, limit: query.limit, total });
  });

  router.get('/transfers/:id', async (ctx) => {
    sendData(ctx, 200, presentTransfer(await find(ctx)));
  });

  router.get('/transfers/:id/timeline', async (ctx) => {
    const query = validateQuery(shortListQuery, ctx);
    const transfer = await find(ctx);
    const told = await webhooks.deliveries.timelineOf(transfer.tenant, transfer._id);
    sendPage(ctx, wholeTimeline(transfer, told).map(presentTimelineEntry), query);
  });

  /** The caller's transfer of that id; another tenant's is not found either. */
  async function find(ctx: Context): Promise<Transfer> {
    const id = String(ctx.params.id);
    const found = isId('transfer', id) ? await transfers.get(callerOf(ctx).tenant.id, id) : null;
    if (!found) throw new ApiError('not_found');
    return found;
  }
}

/** The query in the store's terms: inclusive days become a half-open span, `successful` is `completed`. */
function listing(query: ListTransfersQuery): TransferListing {
  const { page, limit, reference, status, start_date: start, end_date: end } = query;
  return {
    page,
    limit,
    reference,
    status: status === 'successful' ? 'completed' : status,
    from: start === undefined ? undefined : new Date(start),
    until: end === undefined ? undefined : new Date(Date.parse(end) + DAY_MS),
    sort: {
      field: query.sort.endsWith('amount_minor') ? 'amount_minor' : 'created_at',
      descending: query.sort.startsWith('-'),
    },
  };
}
