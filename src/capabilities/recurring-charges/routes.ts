import { callerOf } from '../../platform/http/context.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import {
  cancelRecurringCharge,
  createRecurringCharge,
  getRecurringCharge,
  listRecurringCharges,
  pauseRecurringCharge,
  resumeRecurringCharge,
  updateRecurringCharge,
} from './api.js';
import type { RecurringChanges } from './create.js';
import { presentRecurringCharge } from './presenter.js';
import type { RecurringCharges } from './store.js';

const PATH = `${API_PREFIX}/payments/recurring-charges`;

/** The routes of recurring charges. */
export function recurringChargeRoutes(deps: {
  recurringCharges: {
    store: RecurringCharges;
    create: RecurringChanges['createRecurring'];
    change: RecurringChanges['changeRecurring'];
    update: RecurringChanges['updateRecurring'];
  };
  idempotency: Idempotency;
}): Route[] {
  const { idempotency } = deps;
  const {
    store: recurringCharges,
    create,
    change: changeRecurring,
    update,
  } = deps.recurringCharges;
  const changes = [
    { change: 'pause', operation: pauseRecurringCharge },
    { change: 'resume', operation: resumeRecurringCharge },
    { change: 'cancel', operation: cancelRecurringCharge },
  ] as const;
  return [
    route(createRecurringCharge, async (ctx, { body }) => {
      const { tenant } = callerOf(ctx);
      await withIdempotency(ctx, { idempotency, resource: PATH }, (claim) =>
        create(tenant, body, claim),
      );
    }),

    route(listRecurringCharges, async (ctx, { query }) => {
      const { items, total } = await recurringCharges.list(callerOf(ctx).tenant.id, query);
      sendList(ctx, items.map(presentRecurringCharge), { ...query, total });
    }),

    route(getRecurringCharge, async (ctx, { params }) => {
      sendData(ctx, 200, presentRecurringCharge(await ownRecord(ctx, recurringCharges, params.id)));
    }),

    route(updateRecurringCharge, async (ctx, { params, body }) => {
      const recurring = await ownRecord(ctx, recurringCharges, params.id);
      const resource = `${PATH}/${recurring._id}`;
      await withIdempotency(ctx, { idempotency, resource }, (claim) =>
        update(recurring, body, claim),
      );
    }),

    ...changes.map(({ change, operation }) =>
      route(operation, async (ctx, { params }) => {
        const recurring = await ownRecord(ctx, recurringCharges, params.id);
        const resource = `${PATH}/${recurring._id}/${change}`;
        await withIdempotency(ctx, { idempotency, resource }, (claim) =>
          changeRecurring(recurring, change, claim),
        );
      }),
    ),
  ];
}
