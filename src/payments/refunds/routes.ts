import { ApiError } from '../../errors.js';
import { callerOf, type Context } from '../../http/context.js';
import { answerOnce, API_PREFIX } from '../../http/idempotency.js';
import { sendData, sendPage } from '../../http/respond.js';
import { route, type Route } from '../../http/routes.js';
import type { Idempotency } from '../../idempotency/store.js';
import { presentTimelineEntry } from '../../pursuits/resource.js';
import { wholeTimeline } from '../../pursuits/timeline.js';
import type { Watch } from '../../watch.js';
import type { Deliveries } from '../../webhooks/outbound/deliveries.js';
import { createRefund, getRefund, getRefundTimeline } from './api.js';
import type { CreateRefund } from './create.js';
import { presentRefund } from './presenter.js';
import type { Refund } from './refund.js';
import type { Refunds } from './store.js';

export function refundRoutes(deps: {
  refunds: Refunds;
  refundWatch: Watch<Refund>;
  createRefund: CreateRefund;
  idempotency: Idempotency;
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
}): Route[] {
  const { refunds, refundWatch, idempotency, webhooks } = deps;

  return [
    route(createRefund, async (ctx, { body }) => {
      const tenant = callerOf(ctx).tenant.id;
      await answerOnce(
        ctx,
        { idempotency, resource: `${API_PREFIX}/payments/refunds`, named: 'reference' },
        (claim) => deps.createRefund(tenant, body, claim),
        async (id, wait) => {
          const refund = (await refundWatch.ended(id, wait)) ?? (await refunds.get(tenant, id));
          return refund && presentRefund(refund);
        },
      );
    }),

    route(getRefund, async (ctx, { params }) => {
      sendData(ctx, 200, presentRefund(await find(ctx, params.reference)));
    }),

    route(getRefundTimeline, async (ctx, { params, query }) => {
      const refund = await find(ctx, params.reference);
      const told = await webhooks.deliveries.timelineOf(refund.tenant, refund._id);
      sendPage(ctx, wholeTimeline(refund, told).map(presentTimelineEntry), query);
    }),
  ];

  /** The caller's refund of that reference, or of our id; another tenant's is not found either. */
  async function find(ctx: Context, reference: string): Promise<Refund> {
    const tenant = callerOf(ctx).tenant.id;
    const found =
      (await refunds.byReference(tenant, reference)) ?? (await refunds.get(tenant, reference));
    if (!found) throw new ApiError('not_found');
    return found;
  }
}
