import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { archivedRecords, audits, capabilities } from '../../composition/capabilities.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import { archivedOf, findArchived } from '../../core/ledger/archived.js';
import { ArchiveError } from '../../core/ledger/archive-file.js';
import { archiveDays } from '../../core/ledger/archive.js';
import { auditLedger } from '../../core/ledger/audit.js';
import { closeDueDays } from '../../core/ledger/closing.js';
import { noteClosingRun } from '../../core/ledger/closing-runs.js';
import { isDay, startOfDay } from '../../core/ledger/days.js';
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
import { isAnyId, timeOf } from '../../shared/ids.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { shownRecord } from './instructions.js';
import { ADMINS, READERS, WORKERS } from './roles.js';
import {
  anyId,
  existing,
  noSuch,
  printed,
  printedList,
  reason,
  reasonBody,
  refuseField,
  tenantId,
} from './schema.js';
import { actOf } from './sign-in.js';
import { createUnderWay } from './under-way.js';
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

/** Shows how far the verification has come that is under way or was interrupted. */
export const getVerification = operation({
  id: 'getVerification',
  tag,
  method: 'get',
  path: '/ledger/verification',
  summary: 'Show how far the last verification has come that has not ended',
  roles: READERS,
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

/** Shows how far the operator's own archiving has come. */
export const getArchiving = operation({
  id: 'getArchiving',
  tag,
  method: 'get',
  path: '/ledger/archiving',
  summary: 'Show how far your archiving has come that is under way',
  description: 'The process that does the work has its counts: another one answers 404.',
  roles: READERS,
  answer: { status: 200, data: printed },
});

/** The folder of the archives, on the machine that runs the operator API. */
const folderOf = plainText(1_000).refine(isAbsolute, 'must be an absolute path');
/** The capabilities whose records archives have. */
const archivedCapability = z.enum(['transfers', 'bill-payments']);

/** Shows a record that is in an archive, as `show` did before. */
export const showArchived = operation({
  id: 'showArchived',
  tag,
  method: 'get',
  path: '/ledger/archived/{id}',
  summary: 'Show a record that is in an archive',
  description: 'Reads the files from the day of its creation on.',
  roles: READERS,
  params: { id: anyId },
  query: z.strictObject({ folder: folderOf, tenant: tenantId, capability: archivedCapability }),
  answer: { status: 200, data: z.object({ record: printed, timeline: printedList }) },
});

/** Lists the records of a month that are in archives. */
export const listArchived = operation({
  id: 'listArchived',
  tag,
  method: 'get',
  path: '/ledger/archived',
  summary: 'List the records of a month that are in archives, the latest first',
  roles: READERS,
  query: z.strictObject({
    folder: folderOf,
    tenant: tenantId,
    capability: archivedCapability,
    month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11'),
  }),
  answer: { status: 200, data: printedList },
});

/** The routes for the ledger. They read and write on a connection without an operation limit. */
export const ledgerRoutes = (deps: OperatorDeps): Route[] => [
  ...verificationRoutes(deps),
  ...archiveRoutes(deps),
  ...archivedRoutes(deps),
];

const verificationRoutes = ({ reports, audit }: OperatorDeps): Route[] => [
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

  route(getVerification, async (ctx) => {
    sendData(ctx, 200, await shownVerification(reports.db));
  }),

  route(closeLedger, async (ctx, { body }) => {
    await audit.record(actOf(ctx, 'ledger.close', 'ledger', { reason: body.reason ?? null }));
    const { closed, refused } = await closeDueDays(reports.db, '');
    await noteClosingRun(reports.db, { closed, refused: refused.length });
    sendData(ctx, 200, { ok: refused.length === 0, closed, refused });
  }),
];

function archiveRoutes({ reports, audit }: OperatorDeps): Route[] {
  const archiving = createUnderWay();
  return [
    route(archiveLedger, async (ctx, { body }) => {
      const { to: folder, before, tenant = null } = body;
      if (before > lagosDay(new Date(Date.now() - LEAST_DAYS * DAY_MS))) {
        throw refuseField('before', `must leave at least ${LEAST_DAYS} days`);
      }
      const why = { tenantId: tenant, reason: body.reason ?? null };
      const act = actOf(ctx, 'ledger.archive', tenant ?? 'ledger', why);
      await audit.record(act, { after: { before, to: folder } });
      const counts = { archived_days: 0 };
      const given = {
        database: reports,
        records: archivedRecords,
        folder,
        before,
        tenantId: tenant,
        onStep(step: string) {
          if (step === 'ended') counts.archived_days += 1;
        },
      };
      const { archived, removed, refused } = await archiving.during(
        ctx,
        () => counts,
        () => archiveDays(given),
      );
      const ok = refused.length === 0;
      sendData(ctx, 200, { ok, before, archived_days: archived, removed, refused });
    }),

    route(getArchiving, async (ctx) => {
      sendData(ctx, 200, archiving.countsFor(ctx));
    }),
  ];
}

const archivedRoutes = ({ reports }: OperatorDeps): Route[] => [
  route(showArchived, async (ctx, { params: { id }, query }) => {
    const instruction = archivedInstruction(query.capability);
    const { collection, labels } = instruction;
    if (!isAnyId(id)) throw noSuch(labels.record);
    const from = lagosDay(timeOf(id));
    const archives = { db: reports.db, folder: query.folder, tenantId: query.tenant, from };
    const found = await findArchived(archives, { collection, id }).catch(refuseArchive);
    if (!found) throw noSuch(labels.record);
    const record = found.record as unknown as InstructionRecord;
    // Temporal keeps histories for a shorter time than a day stays before it is archived.
    sendData(ctx, 200, shownRecord(instruction, record, found.deliveries, null));
  }),

  route(listArchived, async (ctx, { query }) => {
    const instruction = archivedInstruction(query.capability);
    const from = `${query.month}-01`;
    const since = startOfDay(from);
    const until = startOfDay(lagosDay(new Date(since.getTime() + 32 * DAY_MS)).slice(0, 8) + '01');
    const archives = { db: reports.db, folder: query.folder, tenantId: query.tenant, from };
    const rows: ReturnType<typeof instruction.presentRow>[] = [];
    const found = archivedOf(archives, instruction.collection, { since, until });
    try {
      for await (const record of found)
        rows.push(instruction.presentRow(record as unknown as InstructionRecord));
    } catch (error) {
      refuseArchive(error);
    }
    sendData(ctx, 200, rows.toSorted(latestFirst));
  }),
];

/** The counts of the last verification that has not ended. */
async function shownVerification(db: OperatorDeps['reports']['db']) {
  const open = await existing(resumeVerification(db), 'verification');
  const { position, postings, closedDays, counts, problemsFound } = open.state;
  const found = { postings, closed_days: closedDays, ...counts, problems_found: problemsFound };
  return { step: position.step, ...found };
}

/** How a capability presents its records, and their collection. */
function archivedInstruction(capability: z.output<typeof archivedCapability>) {
  const instruction = capabilities.find(({ name }) => name === capability)?.instruction;
  if (!instruction) throw new Error(`${capability} has no instructions`);
  return { ...instruction, collection: capability.replaceAll('-', '_') };
}

const latestFirst = (a: { id?: unknown }, b: { id?: unknown }): number =>
  String(b.id).localeCompare(String(a.id));

/** Refuses a request whose files are missing or changed. */
function refuseArchive(error: unknown): never {
  if (!(error instanceof ArchiveError)) throw error;
  throw refuseField('folder', error.message);
}

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
