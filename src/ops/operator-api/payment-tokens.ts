import { z } from 'zod';
import type { PaymentToken } from '../../capabilities/payment-tokens/record.js';
import { presentToken } from '../../capabilities/payment-tokens/presenter.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { OperatorDeps } from './deps.js';
import { READERS } from './roles.js';
import { anyId, existing, flag, LISTED, printed, printedList, tenantId } from './schema.js';

const tag = 'Payment tokens';

/** Lists the latest payment tokens, or those that need an operator. */
export const listPaymentTokens = operation({
  id: 'listPaymentTokens',
  tag,
  method: 'get',
  path: '/payment-tokens',
  summary: `List the latest ${LISTED} payment tokens, or those that need an operator`,
  roles: READERS,
  query: z.strictObject({ tenant: tenantId.optional(), attention: flag }),
  answer: { status: 200, data: printedList },
});

/** Shows a payment token. */
export const getPaymentToken = operation({
  id: 'getPaymentToken',
  tag,
  method: 'get',
  path: '/payment-tokens/{id}',
  summary: 'Show one payment token',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: printed },
});

/** The routes for payment tokens. Their tenants and their providers change them; operators inspect them. */
export const paymentTokenRoutes = ({ paymentTokens }: OperatorDeps): Route[] => [
  route(listPaymentTokens, async (ctx, { query: { tenant, attention } }) => {
    const query = { attention, limit: LISTED, ...(tenant !== undefined && { tenantId: tenant }) };
    sendData(ctx, 200, (await paymentTokens.store.latest(query)).map(row));
  }),

  route(getPaymentToken, async (ctx, { params }) => {
    const token = await existing(paymentTokens.store.find(params.id), 'payment token');
    sendData(ctx, 200, { ...presentToken(token), ...forOperators(token) });
  }),
];

const forOperators = (token: PaymentToken) => ({
  tenant: token.tenant_id,
  provider: token.provider,
  revoked_at_provider: token.status === 'revoked' ? token.revoking === null : null,
  attention: token.attention?.reason ?? null,
});

const row = (token: PaymentToken) => ({
  id: token._id,
  customer: token.customer.id,
  type: token.type,
  status: token.status,
  ...forOperators(token),
  created_at: token.created_at.toISOString(),
});
