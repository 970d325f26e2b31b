import { ApiError } from '../errors.js';
import { callerOf, type Context } from '../http/context.js';
import { answerOnce, API_PREFIX } from '../http/idempotency.js';
import { sendData, sendList, sendPage } from '../http/respond.js';
import { route, type Route } from '../http/routes.js';
import type { Idempotency } from '../idempotency/store.js';
import type { Watch } from '../watch.js';
import type { Deliveries } from '../webhooks/outbound/deliveries.js';
import { createTransfer, getTransfer, getTransferTimeline, listTransfers } from './api.js';
import type { CreateTransfer } from './create.js';
import type { TransferListing } from './lists.js';
import { presentTimelineEntry } from '../pursuits/resource.js';
import { presentTransfer } from './presenter.js';
import type { ListTransfersQuery } from './schema.js';
import type { Transfers } from './store.js';
import { wholeTimeline } from '../pursuits/timeline.js';
import type { Transfer } from './transfer.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** As far as dates go. The day after it would be written in another form, and sort before all others. */
const LAST_DAY = '9999-12-31';

export function transferRoutes(deps: {
  transfers: Transfers;
  transferWatch: Watch<Transfer>;
  createTransfer: CreateTransfer;
  idempotency: Idempotency;
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
}): Route[] {
  const { transfers, transferWatch, idempotency, webhooks } = deps;

  return [
    route(createTransfer, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await answerOnce(
        ctx,
        { idempotency, resource: `${API_PREFIX}/transfers` },
        (claim) => deps.createTransfer(tenant, body, claim, ctx.state.untimed),
        async (id, wait) => {
          const transfer =
            (await transferWatch.ended(id, wait)) ?? (await transfers.get(tenant.id, id));
          return transfer && presentTransfer(transfer);
        },
      );
    }),

    route(listTransfers, async (ctx, { query }) => {
      const { items, total } = await transfers.list(callerOf(ctx).tenant.id, listing(query));
      sendList(ctx, items.map(presentTransfer), { page: query.page, limit: query.limit, total });
    }),

    route(getTransfer, async (ctx, { params }) => {
      sendData(ctx, 200, presentTransfer(await find(ctx, params.id)));
    }),

    route(getTransferTimeline, async (ctx, { params, query }) => {
      const transfer = await find(ctx, params.id);
      const told = await webhooks.deliveries.timelineOf(transfer.tenant, transfer._id);
      sendPage(ctx, wholeTimeline(transfer, told).map(presentTimelineEntry), query);
    }),
  ];

  /** The caller's transfer of that id; another tenant's is not found either. */
  async function find(ctx: Context, id: string): Promise<Transfer> {
    const found = await transfers.get(callerOf(ctx).tenant.id, id);
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
    until: end === undefined || end === LAST_DAY ? undefined : new Date(Date.parse(end) + DAY_MS),
    sort: {
      field: query.sort.endsWith('amount_minor') ? 'amount_minor' : 'created_at',
      descending: query.sort.startsWith('-'),
    },
  };
}
