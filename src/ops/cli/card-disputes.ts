import type { Command } from 'commander';
import { getCardDispute, listCardDisputes } from '../operator-api/card-disputes.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, CommandError, flagOf } from './command.js';
import { print, printLatest, printTable } from './print.js';

type Listing = { card?: string; payment?: string; attention?: boolean };

/** Adds the commands that show disputes of card payments. Acts are commands of `cards`, for the operations of a dispute. */
export function addCardDisputeCommands(program: Command): void {
  const disputes = program.command('card-disputes');
  addApiCommand<Listing>(
    disputes,
    'list',
    (command) =>
      command
        .description(
          `list the latest ${LISTED} of a card or payment, or those that need an operator`,
        )
        .option('--card <id>', 'only disputes of this card')
        .option('--payment <id>', 'only disputes of this payment')
        .option('--attention', 'only disputes that need an operator, oldest first'),
    async (operator, { json, options: { card, payment, attention } }) => {
      if (card === undefined && payment === undefined && !attention) {
        throw new CommandError('give --card, --payment or --attention');
      }
      const query = {
        attention: flagOf(attention),
        ...(card !== undefined && { card }),
        ...(payment !== undefined && { authorization: payment }),
      };
      printLatest(json, await operator.call(listCardDisputes, { query }), LISTED);
    },
  );

  addApiCommand(
    disputes,
    'show <dispute>',
    (command) => command.description('show one dispute with the reports of its issuer'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const input = { params: { id } };
      const missing = `there is no dispute ${id}`;
      const { record, reports } = await operator.call(getCardDispute, input, missing);
      if (json) return print(json, { ...record, reports });
      print(json, record);
      printTable(json, reports);
    },
  );
}
