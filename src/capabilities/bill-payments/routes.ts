import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import { callerOf } from '../../platform/http/context.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { toListing } from '../../core/instructions/listing.js';
import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
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
  webhooks: TimelineWebhooks;
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
        presentEnded({ waiter, store: payments, tenantId: tenant.id }, presentWithToken),
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
      sendData(ctx, 200, presentWithToken(await ownRecord(ctx, payments, params.id)));
    }),

    route(getBillPaymentTimeline, async (ctx, { params, query }) => {
      await sendTimeline(ctx, webhooks, await ownRecord(ctx, payments, params.id), query);
    }),
  ];
}
