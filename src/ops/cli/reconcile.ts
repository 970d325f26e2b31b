import { InvalidArgumentError, type Command } from 'commander';
import { getReconciliation, RECONCILED, reconcileRecords } from '../operator-api/reconciliation.js';
import { addApiCommand } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printTable } from './print.js';
import { inWords } from './progress.js';
import { DAY_MS } from '../../shared/durations.js';

const DEFAULT_DAYS = 7;
const DEFAULT_PER_SECOND = 50;

type Options = {
  since?: Date;
  apply?: boolean;
  only?: string[];
  perSecond: number;
  yes?: boolean;
};

/** Adds the command that compares records with the provider's. */
export function addReconcileCommand(program: Command): void {
  addApiCommand<Options>(
    program,
    'reconcile',
    (command) =>
      addYes(command)
        .option(
          '--since <date>',
          `also compare records created since this date (default: ${DEFAULT_DAYS} days ago)`,
          parseDate,
        )
        .option('--only <kinds>', `some kinds alone, of ${RECONCILED.join(', ')}`, parseKinds)
        .option('--apply', 'apply the reports of the bank, by the same rules as any other answer')
        .option(
          '--per-second <n>',
          'lookups at the bank per second',
          parseRate,
          DEFAULT_PER_SECOND,
        ),
    async (operator, { json, options }) => {
      const { apply = false, only, perSecond, yes } = options;
      if (apply) await confirm('Apply the reports of the bank?', { json, yes });
      const since = options.since ?? new Date(Date.now() - DEFAULT_DAYS * DAY_MS);
      const body = { since: since.toISOString(), apply, only, per_second: perSecond };
      const answer = await operator.call(reconcileRecords, { body }, undefined, async () =>
        inWords(await operator.call(getReconciliation, {})),
      );
      if ('approval' in answer) return print(json, answer);
      const { summary, differences } = answer;
      if (json) print(json, { ...summary, differences });
      else {
        print(json, summary);
        if (differences.length > 0) printTable(json, differences);
      }
      if (summary['ok'] !== true) process.exitCode = 1;
    },
  );
}

function parseDate(text: string): Date {
  const date = new Date(text);
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('must be a date such as 2026-11-21 or 2026-11-21T09:00:00Z.');
  }
  return date;
}

function parseKinds(text: string): string[] {
  const kinds = text.split(',');
  const unknown = kinds.find((kind) => !RECONCILED.includes(kind));
  if (unknown === undefined) return kinds;
  throw new InvalidArgumentError(`${unknown} is none of ${RECONCILED.join(', ')}.`);
}

/** Parses a number of calls per second. */
export function parseRate(text: string): number {
  const rate = Number(text);
  if (text.trim() === '' || !(rate > 0 && rate <= 10_000)) {
    throw new InvalidArgumentError('must be a number above 0.');
  }
  return rate;
}
