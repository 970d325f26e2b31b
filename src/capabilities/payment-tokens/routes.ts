import { callerOf } from '../../platform/http/context.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { throwIfKeyReused } from '../../core/commit/accept.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Customers } from '../customers/index.js';
import {
  createBankAccountToken,
  createCardToken,
  deleteToken,
  getToken,
  listCustomerTokens,
  setUpToken,
} from './api.js';
import type { createTokenCreation } from './create.js';
import { presentToken } from './presenter.js';
import type { PaymentToken } from './record.js';
import { awaitedSetup, openSetup } from './setup.js';
import type { Tokens } from './store.js';

/** The routes of payment tokens. */
export function tokenRoutes(deps: {
  paymentTokens: {
    store: Tokens;
    revocations: Pick<WorkflowStarter<PaymentToken>, 'startSoon'>;
    setups: Pick<WorkflowStarter<PaymentToken>, 'startSoon' | 'notifyChangedSoon'>;
    waiter: CompletionWaiter<PaymentToken>;
    create: ReturnType<typeof createTokenCreation>;
  };
  recurringCharges: { store: { loseToken(tenantId: string, token: string): Promise<void> } };
  customers: { store: Pick<Customers, 'get'> };
  idempotency: Idempotency;
  config: { payments: { chargeExpiresMs: number } };
}): Route[] {
  const { idempotency, recurringCharges } = deps;
  const { store: tokens, revocations, setups, create } = deps.paymentTokens;
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
      sendData(ctx, 200, presentToken(await ownRecord(ctx, tokens, params.id)));
    }),

    setUpRoute(deps, made),

    route(deleteToken, async (ctx, { params: { id } }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const resource = `${made.resource}/${id}`;
      await withIdempotency(ctx, { idempotency, resource }, async (claim) => {
        const outcome = throwIfKeyReused(await tokens.delete(tenantId, id, claim));
        const token = await tokens.get(tenantId, id);
        // The revocation's workflow does both too, in case this process ends here.
        if (token) await recurringCharges.store.loseToken(tenantId, id);
        if (token && token.revoking !== null) revocations.startSoon(token);
        // A method may have been saved on its page in this moment.
        else if (token && awaitedSetup(token)) setups.notifyChangedSoon(token);
        return outcome;
      });
    }),

    route(listCustomerTokens, async (ctx, { params, query }) => {
      const { customer_id: customer } = params;
      const { items, total } = await tokens.list(callerOf(ctx).tenant.id, customer, query);
      if (total === 0) await ownRecord(ctx, deps.customers.store, customer);
      const { page, limit } = query;
      sendList(ctx, items.map(presentToken), { page, limit, total });
    }),
  ];
}

/** The route that opens a page on which the customer saves a payment method without paying. */
const setUpRoute = (
  { paymentTokens, idempotency, config }: Parameters<typeof tokenRoutes>[0],
  { resource }: { resource: string },
): Route =>
  route(setUpToken, async (ctx, { params: { id }, body }) => {
    const tenantId = callerOf(ctx).tenant.id;
    const { store: tokens, setups, waiter } = paymentTokens;
    const expiresAfterMs = config.payments.chargeExpiresMs;
    await withIdempotency(
      ctx,
      { idempotency, resource, path: `${resource}/${id}/setup` },
      async (claim) => {
        const returnUrl = body.return_url ?? null;
        const requested = { tenantId, id, returnUrl, expiresAfterMs, claim };
        const outcome = throwIfKeyReused(await tokens.requestSetup(requested));
        const token = await tokens.get(tenantId, id);
        if (token && openSetup(token)) {
          setups.startSoon(token);
          // A page that is open already is asked about at once.
          setups.notifyChangedSoon(token);
        }
        return outcome;
      },
      presentEnded({ waiter, store: tokens, tenantId }, presentToken),
    );
  });
