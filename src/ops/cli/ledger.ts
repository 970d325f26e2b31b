import { resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { archivedRecords, audits } from '../../composition/capabilities.js';
import { archiveDays } from '../../core/ledger/archive.js';
import { auditLedger } from '../../core/ledger/audit.js';
import { closeDueDays } from '../../core/ledger/closing.js';
import { isDay } from '../../core/ledger/days.js';
import {
  beginVerification,
  resumeVerification,
  type Verification,
} from '../../core/ledger/verifications.js';
import type { Deps } from '../../composition/deps.js';
import { toWireAmount } from '../../shared/money.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import { addCommand, CommandError, parseWhole } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print } from './print.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Providers report reversals, and clients repeat references, within this time. */
const LEAST_DAYS = 30;

type VerifyOptions = { tenant?: string; from?: string; resume?: boolean };

/** Adds the commands for the ledger. */
export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger');
  addCommand<VerifyOptions>(
    ledger,
    'verify',
    (command) =>
      command
        .description('audit closings, postings and records; exit code 1 on any problem')
        .option('--tenant <id>', 'only this tenant')
        .option(
          '--from <day>',
          'only closed days from this one on, and records that changed since',
          parseDay,
        )
        .option('--resume', 'continue the last verification that was interrupted'),
    async ({ database }, { json, options }) => {
      const { scope, state, save } = await openVerification(database.db, options);
      const found = await auditLedger(database, audits, { scope, state, onState: save });
      const { postings, closedDays, counts, sumMinor, problems, problemsFound } = found;
      const ok = problemsFound === 0;
      print(json, {
        ok,
        postings,
        closed_days: closedDays,
        ...counts,
        sum_minor: toWireAmount(sumMinor),
        problems_found: problemsFound,
        problems,
      });
      if (!ok) process.exitCode = 1;
    },
  );

  addCommand(
    ledger,
    'close',
    (command) =>
      command.description(
        'close the days that are over, as the worker does; exit code 1 if it refuses one',
      ),
    async ({ database }, { json }) => {
      const { closed, refused } = await closeDueDays(database.db, '');
      print(json, { ok: refused.length === 0, closed, refused });
      if (refused.length > 0) process.exitCode = 1;
    },
  );
  addArchiveCommand(ledger);
}

type ArchiveOptions = { to: string; olderThanDays: number; tenant?: string; yes?: boolean };

/** Adds the command that moves old days into files. */
function addArchiveCommand(ledger: Command): void {
  addCommand<ArchiveOptions>(
    ledger,
    'archive',
    (command) =>
      addYes(command)
        .description('move closed days that are old into files; exit code 1 if it refuses one')
        .requiredOption('--to <folder>', 'folder of the files, the same in each run')
        .requiredOption(
          '--older-than-days <n>',
          `days that stay, at least ${LEAST_DAYS}`,
          parseWhole(LEAST_DAYS, 36_500),
        )
        .option('--tenant <id>', 'only this tenant'),
    async ({ database }, { json, options }) => {
      const { to, olderThanDays, tenant: tenantId = null, yes } = options;
      const before = lagosDay(new Date(Date.now() - olderThanDays * DAY_MS));
      const question = `Move all that ended before ${before} to ${to} and remove it from the database?`;
      await confirm(question, { json, yes });
      const folder = resolve(to);
      const given = { database, records: archivedRecords, folder, before, tenantId };
      const { archived, removed, refused } = await archiveDays(given);
      print(json, { ok: refused.length === 0, before, archived_days: archived, removed, refused });
      if (refused.length > 0) process.exitCode = 1;
    },
  );
}

async function openVerification(
  db: Deps['database']['db'],
  { tenant: tenantId, from, resume }: VerifyOptions,
): Promise<Verification> {
  if (!resume) return beginVerification(db, { tenantId: tenantId ?? null, from: from ?? null });
  if (tenantId !== undefined || from !== undefined) {
    throw new CommandError(
      '--resume continues with the options that it began with: leave out others',
    );
  }
  const interrupted = await resumeVerification(db);
  if (!interrupted) throw new CommandError('there is no interrupted verification');
  return interrupted;
}

function parseDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('must be a day such as 2026-11-21.');
  return text;
}
