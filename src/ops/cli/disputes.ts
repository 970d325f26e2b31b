import { Option, type Command } from 'commander';
import {
  acknowledgeDispute,
  decideDispute,
  getDispute,
  listDisputes,
} from '../operator-api/disputes.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, CommandError, flagOf, parseWhole } from './command.js';
import { print, printLatest, printTable } from './print.js';

/** The meaning of the reason of an act. */
const RESOLVED = 'how the case was resolved, for the audit log';

type Deciding = { outcome: 'won' | 'lost'; amountMinor?: number; reason: string };

/** Adds the commands for disputes of charges: list, show, and the two acts on their attention. */
export function addDisputeCommands(program: Command): void {
  const disputes = program.command('disputes');
  addApiCommand<{ tenant?: string; attention?: boolean }>(
    disputes,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} of a tenant, or those that need an operator`)
        .option('--tenant <id>', 'only disputes of this tenant')
        .option('--attention', 'only disputes that need an operator, oldest first'),
    async (operator, { json, options: { tenant, attention } }) => {
      if (tenant === undefined && !attention) {
        throw new CommandError('give --tenant or --attention');
      }
      const query = { attention: flagOf(attention), ...(tenant !== undefined && { tenant }) };
      printLatest(json, await operator.call(listDisputes, { query }), LISTED);
    },
  );

  addApiCommand(
    disputes,
    'show <dispute>',
    (command) => command.description('show one dispute with its timeline'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const input = { params: { id } };
      const { record, timeline } = await operator.call(getDispute, input, noSuch(id));
      if (json) return print(json, { ...record, timeline });
      print(json, record);
      printTable(json, timeline);
    },
  );
  addActs(disputes);
}

function addActs(disputes: Command): void {
  addRecordCommand(disputes, 'acknowledge <dispute>', acknowledgeDispute, {
    description: 'clear its attention, also for repeats of the same contradiction; no money moves',
    reason: RESOLVED,
  });

  addApiCommand<Deciding>(
    disputes,
    'decide <dispute>',
    (command) =>
      command
        .description('decide a dispute whose reports contradict each other, and move its money')
        .requiredOption('--reason <text>', RESOLVED)
        .addOption(
          new Option('--outcome <outcome>', 'the end of it')
            .choices(['won', 'lost'])
            .makeOptionMandatory(),
        )
        .option(
          '--amount-minor <kobo>',
          'the amount that the provider names in the end',
          parseWhole(1, Number.MAX_SAFE_INTEGER),
        ),
    async (operator, { json, args, options: { outcome, amountMinor, reason } }) => {
      const id = String(args[0]);
      const body = {
        outcome,
        reason,
        ...(amountMinor !== undefined && { amount_minor: amountMinor }),
      };
      print(json, await operator.call(decideDispute, { params: { id }, body }, noSuch(id)));
    },
  );
}

const noSuch = (id: string) => `there is no dispute ${id}`;
