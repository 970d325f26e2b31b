import { z } from 'zod';
import { reconcile } from '../../capabilities/transfers/provider-calls.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { WORKERS } from './roles.js';
import { printed, printedList, reason } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

/** Compares transfers with the records of the bank. */
export const reconcileTransfers = operation({
  id: 'reconcileTransfers',
  tag: 'Reconciliation',
  method: 'post',
  path: '/reconciliations',
  summary: 'Compare transfers with the records of the bank; with `apply`, apply its reports',
  roles: WORKERS,
  body: z.strictObject({
    since: z.iso.datetime(),
    apply: z.boolean().default(false),
    per_second: z.number().positive().max(10_000),
    reason: reason.optional(),
  }),
  act: 'reconcile.apply',
  answer: {
    status: 200,
    data: orWaiting(z.object({ summary: printed, differences: printedList })),
  },
});

/** The route of the comparison. */
export const reconciliationRoutes = (deps: OperatorDeps): Route[] => [
  route(reconcileTransfers, async (ctx, { body }) => {
    const { apply, per_second: perSecond } = body;
    const since = new Date(body.since);
    if (apply) {
      const asked = actOf(ctx, 'reconcile.apply', 'transfers', { reason: body.reason ?? null });
      const input = { act: asked, input: { body } };
      const act = await permit(deps, ctx, input, { act: 'reconciliation' });
      if (!act) return;
      await deps.audit.record(act, { after: { since: body.since } });
    }
    const { differences, ...counts } = await reconcile(
      { ...deps, transfers: deps.transfers.store, starter: deps.transfers.starter },
      { since, apply, perSecond },
    );
    const ok = counts.unanswered === 0 && counts.differing === counts.settled;
    const rows = differences.map(({ amountMinor, ...row }) => ({
      ...row,
      amount_minor: toWireAmount(amountMinor),
    }));
    const summary = { ok, since: since.toISOString(), ...counts };
    sendData(ctx, 200, { summary, differences: rows });
  }),
];
