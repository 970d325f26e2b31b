import { z } from 'zod';
import { readBalance } from '../../core/ledger/balance.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { amount, noSuch, printed, reason, tenantId } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

const tag = 'Wallets';

/** Credits a wallet with money from outside. */
export const creditWallet = operation({
  id: 'creditWallet',
  tag,
  method: 'post',
  path: '/wallets/{tenant}/credits',
  summary: 'Credit a wallet from outside, once per reference',
  roles: WORKERS,
  params: { tenant: tenantId },
  body: z.strictObject({
    amount_minor: amount,
    reference: plainText(200),
    reason: reason.optional(),
  }),
  act: 'wallets.credit',
  answer: { status: 200, data: orWaiting(printed) },
});

/** Shows the balance of a wallet. */
export const getWallet = operation({
  id: 'getWallet',
  tag,
  method: 'get',
  path: '/wallets/{tenant}',
  summary: 'Show the balance of a wallet: its last closing and the later postings',
  roles: READERS,
  params: { tenant: tenantId },
  answer: { status: 200, data: printed },
});

/** The routes for wallets. */
export const walletRoutes = (deps: OperatorDeps): Route[] => [
  route(creditWallet, async (ctx, { params, body }) => {
    const { tenants, wallets } = deps;
    if (!(await tenants.get(params.tenant))) throw noSuch('tenant');
    const amountMinor = BigInt(body.amount_minor);
    const asked = actOf(ctx, 'wallets.credit', `${params.tenant}/${body.reference}`, {
      tenantId: params.tenant,
      reason: body.reason ?? null,
    });
    const input = { params, body };
    const act = await permit(deps, ctx, { act: asked, input }, { act: 'credit', amountMinor });
    if (!act) return;
    const { availableMinor } = await wallets.credit({
      tenantId: params.tenant,
      amountMinor,
      reference: body.reference,
      act,
    });
    sendData(ctx, 200, { available_minor: toWireAmount(availableMinor) });
  }),

  route(getWallet, async (ctx, { params }) => {
    const { tenants, database } = deps;
    if (!(await tenants.get(params.tenant))) throw noSuch('tenant');
    const balance = await readBalance(database, params.tenant);
    sendData(ctx, 200, {
      available_minor: toWireAmount(balance.availableMinor),
      held_minor: toWireAmount(balance.heldMinor),
      receivable_minor: toWireAmount(balance.receivableMinor),
    });
  }),
];
