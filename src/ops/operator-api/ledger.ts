import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { archivedRecords, audits } from '../../composition/capabilities.js';
import { archiveDays } from '../../core/ledger/archive.js';
import { auditLedger } from '../../core/ledger/audit.js';
import { closeDueDays } from '../../core/ledger/closing.js';
import { noteClosingRun } from '../../core/ledger/closing-runs.js';
import { isDay } from '../../core/ledger/days.js';
import {
  beginVerification,
  resumeVerification,
  type Verification,
} from '../../core/ledger/verifications.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { ADMINS, READERS, WORKERS } from './roles.js';
import { printed, reason, reasonBody, refuseField, tenantId } from './schema.js';
import { actOf } from './sign-in.js';
import { DAY_MS } from '../../shared/durations.js';

/** Providers report reversals, and clients repeat references, within this time. */
export const LEAST_DAYS = 30;
/** A century: a larger number is a typing error. */
export const MOST_DAYS = 36_500;

const tag = 'Ledger';

/** Audits closings, postings and records. It writes nothing but its own progress. */
export const verifyLedger = operation({
  id: 'verifyLedger',
  tag,
  method: 'post',
  path: '/ledger/verify',
  summary: 'Audit closings, postings and records',
  roles: READERS,
  body: z.strictObject({
    tenant: tenantId.optional(),
    from: z.string().refine(isDay, 'must be a day such as 2026-11-21').optional(),
    resume: z.boolean().default(false),
  }),
  answer: { status: 200, data: printed },
});

/** Closes the days that are over. */
export const closeLedger = operation({
  id: 'closeLedger',
  tag,
  method: 'post',
  path: '/ledger/close',
  summary: 'Close the days that are over, as the worker does',
  roles: WORKERS,
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** Moves old closed days into files of the machine that runs the operator API. */
export const archiveLedger = operation({
  id: 'archiveLedger',
  tag,
  method: 'post',
  path: '/ledger/archive',
  summary: 'Move closed days that are old into files',
  description: 'The folder is on the machine that runs the operator API.',
  roles: ADMINS,
  body: z.strictObject({
    to: plainText(1_000).refine(isAbsolute, 'must be an absolute path'),
    before: z.string().refine(isDay, 'must be a day such as 2026-11-21'),
    tenant: tenantId.optional(),
    reason: reason.optional(),
  }),
  answer: { status: 200, data: printed },
});

/** The routes for the ledger. They read and write on a connection without an operation limit. */
export const ledgerRoutes = ({ reports, audit }: OperatorDeps): Route[] => [
  route(verifyLedger, async (ctx, { body }) => {
    const { scope, state, save } = await openVerification(reports.db, body);
    const found = await auditLedger(reports, audits, { scope, state, onState: save });
    const { postings, closedDays, counts, sumMinor, problems, problemsFound } = found;
    sendData(ctx, 200, {
      ok: problemsFound === 0,
      postings,
      closed_days: closedDays,
      ...counts,
      sum_minor: toWireAmount(sumMinor),
      problems_found: problemsFound,
      problems,
    });
  }),

  route(closeLedger, async (ctx, { body }) => {
    await audit.record(actOf(ctx, 'ledger.close', 'ledger', { reason: body.reason ?? null }));
    const { closed, refused } = await closeDueDays(reports.db, '');
    await noteClosingRun(reports.db, { closed, refused: refused.length });
    sendData(ctx, 200, { ok: refused.length === 0, closed, refused });
  }),

  route(archiveLedger, async (ctx, { body }) => {
    const { to: folder, before, tenant = null } = body;
    if (before > lagosDay(new Date(Date.now() - LEAST_DAYS * DAY_MS))) {
      throw refuseField('before', `must leave at least ${LEAST_DAYS} days`);
    }
    const why = { tenantId: tenant, reason: body.reason ?? null };
    const act = actOf(ctx, 'ledger.archive', tenant ?? 'ledger', why);
    await audit.record(act, { after: { before, to: folder } });
    const given = { database: reports, records: archivedRecords, folder, before, tenantId: tenant };
    const { archived, removed, refused } = await archiveDays(given);
    const ok = refused.length === 0;
    sendData(ctx, 200, { ok, before, archived_days: archived, removed, refused });
  }),
];

async function openVerification(
  db: OperatorDeps['reports']['db'],
  { tenant, from, resume }: z.output<typeof verifyLedger.body>,
): Promise<Verification> {
  if (!resume) return beginVerification(db, { tenantId: tenant ?? null, from: from ?? null });
  if (tenant !== undefined || from !== undefined) {
    throw refuseField('resume', 'continues with the options that it began with: leave out others');
  }
  const interrupted = await resumeVerification(db);
  if (!interrupted) {
    throw new ApiError('invalid_state', { message: 'there is no interrupted verification' });
  }
  return interrupted;
}
