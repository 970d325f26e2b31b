import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { createRefund, getRefund, getRefundTimeline, listRefunds } from './api.js';
import type { CreateRefund } from './create.js';
import { presentRefund } from './presenter.js';
import type { Refund } from './record.js';
import type { Refunds } from './store.js';

/** The routes of refunds. */
export function refundRoutes(deps: {
  refunds: { store: Refunds; waiter: CompletionWaiter<Refund>; create: CreateRefund };
  idempotency: Idempotency;
  webhooks: TimelineWebhooks;
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: refunds, waiter, create } = deps.refunds;

  return [
    route(createRefund, async (ctx, { body }) => {
      const tenantId = callerOf(ctx).tenant.id;
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/payments/refunds`, named: 'reference' },
        (claim) => create(tenantId, body, claim),
        presentEnded({ waiter, store: refunds, tenantId }, presentRefund),
      );
    }),

    route(listRefunds, async (ctx, { query }) => {
      const { page, limit, status, charge_reference: charge, sort } = query;
      const descending = sort.startsWith('-');
      const { tenant } = callerOf(ctx);
      const asked = { page, limit, status, charge, descending };
      const { items, total } = await refunds.list(tenant.id, asked);
      sendList(ctx, items.map(presentRefund), { page, limit, total });
    }),

    route(getRefund, async (ctx, { params }) => {
      sendData(ctx, 200, presentRefund(await find(ctx, params.reference)));
    }),

    route(getRefundTimeline, async (ctx, { params, query }) => {
      await sendTimeline(ctx, webhooks, await find(ctx, params.reference), query);
    }),
  ];

  /** Returns the caller's refund by its reference or its id. A refund of another tenant is `not_found`. */
  async function find(ctx: Context, reference: string): Promise<Refund> {
    const tenantId = callerOf(ctx).tenant.id;
    const found =
      (await refunds.byReference(tenantId, reference)) ?? (await refunds.get(tenantId, reference));
    if (!found) throw new ApiError('not_found');
    return found;
  }
}
