import { ApiError } from '../../shared/errors.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList, sendPage } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { presentTimelineEntry } from '../../core/instructions/api-fields.js';
import { toListing } from '../../core/instructions/listing.js';
import { timelineWithDeliveries } from '../../core/instructions/instruction.js';
import type { Deliveries } from '../../core/webhooks/deliveries.js';
import {
  createBillPayment,
  getBillPayment,
  getBillPaymentTimeline,
  listBillPayments,
} from './api.js';
import type { BillPayment } from './record.js';
import type { CreateBillPayment } from './create.js';
import { presentBillPayment } from './presenter.js';
import type { Receipts } from './provider-calls.js';
import type { BillPayments } from './store.js';

/** The routes of bill payments. */
export function billPaymentRoutes(deps: {
  billPayments: {
    store: BillPayments;
    waiter: CompletionWaiter<BillPayment>;
    create: CreateBillPayment;
    receipts: Receipts;
  };
  idempotency: Idempotency;
  webhooks: { deliveries: Pick<Deliveries, 'timelineOf'> };
}): Route[] {
  const { idempotency, webhooks } = deps;
  const { store: payments, waiter, create, receipts } = deps.billPayments;
  const presentWithToken = (payment: BillPayment) =>
    presentBillPayment(payment, receipts.tokenOf(payment));

  return [
    route(createBillPayment, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/billpay/payments` },
        (claim) => create(tenant, body, claim, ctx.state.withoutDeadline),
        async (id, wait) => {
          const payment =
            (await waiter.waitForEnd({ tenantId: tenant.id, id }, wait)) ??
            (await payments.get(tenant.id, id));
          return payment && presentWithToken(payment);
        },
      );
    }),

    route(listBillPayments, async (ctx, { query }) => {
      const { page, limit, biller_id: billerId } = query;
      const listing = { ...toListing(query), billerId };
      const { items, total } = await payments.list(callerOf(ctx).tenant.id, listing);
      sendList(
        ctx,
        items.map((payment) => presentBillPayment(payment)),
        { page, limit, total },
      );
    }),

    route(getBillPayment, async (ctx, { params }) => {
      sendData(ctx, 200, presentWithToken(await find(ctx, params.id)));
    }),

    route(getBillPaymentTimeline, async (ctx, { params, query }) => {
      const payment = await find(ctx, params.id);
      const deliveries = await webhooks.deliveries.timelineOf(payment.tenant_id, payment._id);
      sendPage(ctx, timelineWithDeliveries(payment, deliveries).map(presentTimelineEntry), query);
    }),
  ];

  /** Returns the caller's payment. A payment of another tenant is `not_found`, so that its existence does not leak. */
  async function find(ctx: Context, id: string): Promise<BillPayment> {
    const found = await payments.get(callerOf(ctx).tenant.id, id);
    if (!found) throw new ApiError('not_found');
    return found;
  }
}
