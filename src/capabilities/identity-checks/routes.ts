import { ApiError } from '../../shared/errors.js';
import { callerOf } from '../../platform/http/context.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import type { createSafeguard } from '../../platform/http/rate-limit.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import type { Customers } from '../customers/index.js';
import { getIdentityCheck, listIdentityChecks, verifyCustomer } from './api.js';
import type { CreateIdentityCheck } from './create.js';
import type { IdentityCheck } from './record.js';
import { presentCheck } from './presenter.js';
import { readSubject, refuseInClear } from './schema.js';
import type { IdentityChecks } from './store.js';

/** The purpose of the keyed fingerprint of a request. */
const FINGERPRINT = 'identity_checks.fingerprint';

/** The routes of identity checks. */
export function identityCheckRoutes(deps: {
  identityChecks: {
    store: IdentityChecks;
    waiter: CompletionWaiter<IdentityCheck>;
    create: CreateIdentityCheck;
  };
  customers: { store: Customers };
  idempotency: Idempotency;
  sealing: Sealing;
  safeguard: ReturnType<typeof createSafeguard>;
}): Route[] {
  const { idempotency, sealing, safeguard } = deps;
  const { store: checks, waiter, create } = deps.identityChecks;

  return [
    route(verifyCustomer, async (ctx, { params, body }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const { customer_id: customerId, check_type: checkType } = params;
      const subject = readSubject(checkType, body);
      refuseInClear(
        {
          customer_id: customerId,
          'Idempotency-Key': ctx.get('Idempotency-Key'),
          idempotency_key: body.idempotency_key,
        },
        body,
      );
      const at = `${API_PREFIX}/identity/customers/${encodeURIComponent(customerId)}/kyc`;
      await withIdempotency(
        ctx,
        {
          idempotency,
          resource: at,
          path: `${at}/${checkType}/verify`,
          // Eleven digits under a plain hash are found by trying all of them.
          fingerprints: (request) => sealing.blindIndexes(request, FINGERPRINT),
        },
        async (claim) => {
          // A repeat has its answer by now: it checks nothing, so it counts nothing.
          await safeguard(ctx, 'kyc', customerId);
          return create({ tenantId, customerId, checkType, subject }, claim);
        },
        presentEnded({ waiter, store: checks, tenantId }, presentCheck),
      );
    }),

    route(listIdentityChecks, async (ctx, { params, query }) => {
      const customer = await ownRecord(ctx, deps.customers.store, params.customer_id);
      const { items, total } = await checks.list(customer, query);
      const { page, limit } = query;
      sendList(ctx, items.map(presentCheck), { page, limit, total });
    }),

    route(getIdentityCheck, async (ctx, { params }) => {
      const check = await ownRecord(ctx, checks, params.kyc_id);
      if (check.customer_id !== params.customer_id) throw new ApiError('not_found');
      sendData(ctx, 200, presentCheck(check));
    }),
  ];
}
