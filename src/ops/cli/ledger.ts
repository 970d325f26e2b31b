import { resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isDay } from '../../core/ledger/days.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import {
  archiveLedger,
  closeLedger,
  getArchiving,
  getVerification,
  LEAST_DAYS,
  listArchived,
  MOST_DAYS,
  showArchived,
  verifyLedger,
} from '../operator-api/ledger.js';
import { addApiCommand, parseWhole } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printWithTimeline } from './print.js';
import { inWords } from './progress.js';
import { DAY_MS } from '../../shared/durations.js';

type VerifyOptions = { tenant?: string; from?: string; resume?: boolean };

/** Adds the commands for the ledger. */
export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger');
  addApiCommand<VerifyOptions>(
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
    async (operator, { json, options: { tenant, from, resume = false } }) => {
      const body = {
        resume,
        ...(tenant !== undefined && { tenant }),
        ...(from !== undefined && { from }),
      };
      const report = await operator.call(verifyLedger, { body }, undefined, async () =>
        inWords(await operator.call(getVerification, {})),
      );
      print(json, report);
      if (report['ok'] !== true) process.exitCode = 1;
    },
  );

  addApiCommand(
    ledger,
    'close',
    (command) =>
      command.description(
        'close the days that are over, as the worker does; exit code 1 if it refuses one',
      ),
    async (operator, { json }) => {
      const report = await operator.call(closeLedger, { body: {} });
      print(json, report);
      if (report['ok'] !== true) process.exitCode = 1;
    },
  );
  addArchiveCommand(ledger);
  addArchivedCommands(ledger.command('archived').description('read records that are in archives'));
}

type ArchivedOptions = { from: string; tenant: string; kind: 'transfers' | 'bill-payments' };

/** Adds the commands that read archives. */
function addArchivedCommands(archived: Command): void {
  const withFolder = (command: Command) =>
    command
      .requiredOption('--from <folder>', 'folder of the files on the machine of the operator API')
      .requiredOption('--tenant <id>', 'the tenant of the records')
      .addOption(
        new Option('--kind <capability>', 'kind of the records')
          .choices(['transfers', 'bill-payments'])
          .default('transfers'),
      );
  const queryOf = ({ from, tenant, kind }: ArchivedOptions) => ({
    folder: resolve(from),
    tenant,
    capability: kind,
  });

  addApiCommand<ArchivedOptions>(
    archived,
    'show <id>',
    (command) =>
      withFolder(command).description('show an archived record with its timeline, as before'),
    async (operator, { json, options, args }) => {
      const params = { id: String(args[0]) };
      printWithTimeline(
        json,
        await operator.call(showArchived, { params, query: queryOf(options) }),
      );
    },
  );

  addApiCommand<ArchivedOptions & { month: string }>(
    archived,
    'list',
    (command) =>
      withFolder(command)
        .description('list the archived records of a month, the latest first')
        .requiredOption('--month <month>', 'month of their creation, such as 2026-11'),
    async (operator, { json, options }) => {
      const query = { ...queryOf(options), month: options.month };
      printLatest(json, await operator.call(listArchived, { query }), Infinity);
    },
  );
}

type ArchiveOptions = { to: string; olderThanDays: number; tenant?: string; yes?: boolean };

/** Adds the command that moves old days into files. */
function addArchiveCommand(ledger: Command): void {
  addApiCommand<ArchiveOptions>(
    ledger,
    'archive',
    (command) =>
      addYes(command)
        .description('move closed days that are old into files; exit code 1 if it refuses one')
        .requiredOption(
          '--to <folder>',
          'folder of the files on the machine of the operator API, the same in each run',
        )
        .requiredOption(
          '--older-than-days <n>',
          `days that stay, at least ${LEAST_DAYS}`,
          parseWhole(LEAST_DAYS, MOST_DAYS),
        )
        .option('--tenant <id>', 'only this tenant'),
    async (operator, { json, options: { to, olderThanDays, tenant, yes } }) => {
      const before = lagosDay(new Date(Date.now() - olderThanDays * DAY_MS));
      const question = `Move all that ended before ${before} to ${to} and remove it from the database?`;
      await confirm(question, { json, yes });
      const body = { to: resolve(to), before, ...(tenant !== undefined && { tenant }) };
      const report = await operator.call(archiveLedger, { body }, undefined, async () =>
        inWords(await operator.call(getArchiving, {})),
      );
      print(json, report);
      if (report['ok'] !== true) process.exitCode = 1;
    },
  );
}

function parseDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('must be a day such as 2026-11-21.');
  return text;
}
