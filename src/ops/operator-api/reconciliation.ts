import { z } from 'zod';
import { capabilities } from '../../composition/capabilities.js';
import {
  createPace,
  emptyReport,
  type ReconcileReport,
} from '../../core/reconciliation/comparison.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { printed, printedList, reason } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';
import { createUnderWay } from './under-way.js';

/** The capabilities whose records are compared with their providers. */
export const RECONCILED = capabilities.flatMap(({ name, reconciled }) =>
  reconciled ? [name] : [],
);

/** Compares the records of everything that moves money, and active virtual accounts, with those of their providers. */
export const reconcileRecords = operation({
  id: 'reconcileRecords',
  tag: 'Reconciliation',
  method: 'post',
  path: '/reconciliations',
  summary:
    'Compare records with those of their providers; with `apply`, apply the reports of these',
  roles: WORKERS,
  body: z.strictObject({
    since: z.iso.datetime(),
    apply: z.boolean().default(false),
    per_second: z.number().positive().max(10_000),
    only: z.array(z.enum(RECONCILED)).min(1).optional(),
    reason: reason.optional(),
  }),
  act: 'reconcile.apply',
  answer: {
    status: 200,
    data: orWaiting(z.object({ summary: printed, differences: printedList })),
  },
});

/** Shows how far the operator's own comparison has come. */
export const getReconciliation = operation({
  id: 'getReconciliation',
  tag: 'Reconciliation',
  method: 'get',
  path: '/reconciliations',
  summary: 'Show how far your comparison has come that is under way',
  description: 'The process that does the work has its counts: another one answers 404.',
  roles: READERS,
  answer: { status: 200, data: printed },
});

/** The routes of the comparison. */
export function reconciliationRoutes(deps: OperatorDeps): Route[] {
  const underWay = createUnderWay();
  return [
    route(reconcileRecords, async (ctx, { body }) => {
      const { apply, only = RECONCILED } = body;
      const since = new Date(body.since);
      // A comparison opens and closes breaks, also if it applies nothing.
      const action = apply ? 'reconcile.apply' : 'reconcile';
      const asked = actOf(ctx, action, only.join(','), { reason: body.reason ?? null });
      const act = apply
        ? await permit(deps, ctx, { act: asked, input: { body } }, { act: 'reconciliation' })
        : asked;
      if (!act) return;
      await deps.audit.record(act, { after: { since: body.since } });
      const report = emptyReport();
      await underWay.during(
        ctx,
        () => countsOf(report),
        () => reconcile(deps, { ...body, since, only }, report),
      );
      const counts = countsOf(report);
      const ok = counts.unanswered === 0 && counts.differing === counts.settled;
      const rows = report.differences.map(({ amountMinor, breakKind, ...row }) => ({
        ...row,
        break: breakKind,
        amount_minor: toWireAmount(amountMinor),
      }));
      const summary = { ok, since: since.toISOString(), ...counts };
      sendData(ctx, 200, { summary, differences: rows });
    }),

    route(getReconciliation, async (ctx) => {
      sendData(ctx, 200, underWay.countsFor(ctx));
    }),
  ];
}

function countsOf(report: ReconcileReport) {
  const { differences: _, ...counts } = report;
  return counts;
}

type Options = { since: Date; apply: boolean; per_second: number; only: readonly string[] };

/** Compares the records of these capabilities, one capability after the other. */
async function reconcile(
  deps: OperatorDeps,
  { since, apply, per_second, only }: Options,
  report: ReconcileReport,
): Promise<void> {
  const { breaks, log } = deps;
  const run = { apply, takeTurn: createPace(per_second), report, breaks, log };
  const tenants = (await deps.tenants.list()).map(({ id }) => id);
  for (const { name, reconciled } of capabilities) {
    if (only.includes(name)) await reconciled?.(deps).reconcile(run, { since, tenants });
  }
}
