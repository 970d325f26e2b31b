import { ApiError } from '../../shared/errors.js';
import { callerOf } from '../../platform/http/context.js';
import { withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { createBankAccountToken, createCardToken, getToken, listCustomerTokens } from './api.js';
import type { createTokenCreation } from './create.js';
import { presentToken } from './presenter.js';
import type { Tokens } from './store.js';

/** The routes of payment tokens. */
export function tokenRoutes(deps: {
  paymentTokens: { store: Tokens; create: ReturnType<typeof createTokenCreation> };
  charges: { store: { knowsCustomer(tenantId: string, customer: string): Promise<boolean> } };
  idempotency: Idempotency;
}): Route[] {
  const { charges, idempotency } = deps;
  const { store: tokens, create } = deps.paymentTokens;
  const made = { idempotency, resource: `${API_PREFIX}/payments/tokens` };

  return [
    route(createCardToken, (ctx, { body }) =>
      withIdempotency(ctx, { ...made, path: `${made.resource}/card` }, (claim) =>
        create(callerOf(ctx), body, claim),
      ),
    ),

    route(createBankAccountToken, (ctx, { body }) =>
      withIdempotency(ctx, { ...made, path: `${made.resource}/bank-account` }, (claim) =>
        create(callerOf(ctx), body, claim),
      ),
    ),

    route(getToken, async (ctx, { params }) => {
      const token = await tokens.get(callerOf(ctx).tenant.id, params.id);
      if (!token) throw new ApiError('not_found');
      sendData(ctx, 200, presentToken(token));
    }),

    route(listCustomerTokens, async (ctx, { params, query }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const { items, total } = await tokens.list(tenantId, params.customer_id, query);
      // A customer exists as soon as a request names it.
      if (total === 0 && !(await charges.store.knowsCustomer(tenantId, params.customer_id))) {
        throw new ApiError('not_found');
      }
      const { page, limit } = query;
      sendList(ctx, items.map(presentToken), { page, limit, total });
    }),
  ];
}
