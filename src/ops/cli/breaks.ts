import { Option, type Command } from 'commander';
import { BREAK_KINDS, type BreakKind } from '../../core/reconciliation/break.js';
import { askAboutBreak, closeBreak, getBreak, listBreaks } from '../operator-api/breaks.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest } from './print.js';

type Selecting = { kind?: BreakKind; provider?: string; closed?: boolean };

/** Adds the commands for breaks: list, show, explain, ask the provider, close. */
export function addBreakCommands(program: Command): void {
  const breaks = program.command('breaks');
  addApiCommand<Selecting>(
    breaks,
    'list',
    (command) =>
      command
        .description('list open breaks, the longest open first')
        .addOption(new Option('--kind <kind>', 'only breaks of this kind').choices(BREAK_KINDS))
        .option('--provider <name>', 'only breaks with this provider')
        .option('--closed', 'closed breaks, the latest first'),
    async (operator, { json, options: { kind, provider, closed } }) => {
      const query = {
        status: closed ? ('closed' as const) : ('open' as const),
        ...(kind !== undefined && { kind }),
        ...(provider !== undefined && { provider }),
      };
      printLatest(json, await operator.call(listBreaks, { query }), LISTED);
    },
  );
  addApiCommand(
    breaks,
    'show <break>',
    (command) => command.description('show a break'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const { break: found } = await operator.call(getBreak, { params: { id } }, noSuch(id));
      print(json, found);
    },
  );
  addApiCommand(
    breaks,
    'explain <break>',
    (command) => command.description('say what a break means and which acts end it'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const { break: found, ...rest } = await operator.call(
        getBreak,
        { params: { id } },
        noSuch(id),
      );
      if (json) return print(json, { ...found, ...rest });
      console.log([text(found['difference']), rest.meaning, ...rest.acts].join('\n'));
    },
  );
  addEndings(breaks);
}

function addEndings(breaks: Command): void {
  addApiCommand<{ reason?: string; yes?: boolean }>(
    breaks,
    'ask <break>',
    (command) =>
      addYes(command)
        .description(
          'ask the provider about the record, and apply its answer; exit code 1 if it stays open',
        )
        .option('--reason <text>', 'reason for the audit log'),
    async (operator, { json, args, options: { reason, yes } }) => {
      const id = String(args[0]);
      await confirm('Apply the report of the provider?', { json, yes });
      const body = reason === undefined ? {} : { reason };
      const answer = await operator.call(askAboutBreak, { params: { id }, body }, noSuch(id));
      print(json, answer);
      if ('status' in answer && answer['status'] === 'open') process.exitCode = 1;
    },
  );
  addRecordCommand(breaks, 'close <break>', closeBreak, {
    description: 'close a break that is accepted as it is; moves no money',
    reason: 'reason, which the break and the audit log keep',
  });
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const noSuch = (id: string) => `there is no break ${id}`;
