import type { Command } from 'commander';
import {
  acknowledgeAuthorization,
  getAuthorization,
  listAuthorizations,
  verifyAuthorization,
} from '../operator-api/card-authorizations.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, CommandError, flagOf } from './command.js';
import { print, printLatest, printTable } from './print.js';

/**
 * Adds the commands for card authorizations. The issuer decides their outcome; operators have it asked, and acknowledge.
 */
export function addCardAuthorizationCommands(program: Command): void {
  const authorizations = program.command('card-authorizations');
  addApiCommand<{ card?: string; attention?: boolean }>(
    authorizations,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} of a card, or those that need an operator`)
        .option('--card <id>', 'only authorizations of this card')
        .option('--attention', 'only authorizations that need an operator, oldest first'),
    async (operator, { json, options: { card, attention } }) => {
      if (card === undefined && !attention) throw new CommandError('give --card or --attention');
      const query = { attention: flagOf(attention), ...(card !== undefined && { card }) };
      printLatest(json, await operator.call(listAuthorizations, { query }), LISTED);
    },
  );

  addApiCommand(
    authorizations,
    'show <authorization>',
    (command) =>
      command.description('show one authorization with its messages, facts, payers and timeline'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const input = { params: { id } };
      const { record, ...lists } = await operator.call(
        getAuthorization,
        input,
        `there is no authorization ${id}`,
      );
      if (json) return print(json, { ...record, ...lists });
      print(json, record);
      for (const name of ['messages', 'facts', 'payers', 'timeline'] as const) {
        console.log(`\n${name}`);
        printTable(json, lists[name]);
      }
    },
  );

  addRecordCommand(authorizations, 'verify <authorization>', verifyAuthorization, {
    description: 'ask the issuer about an authorization now, and book what is missing',
    reason: 'the reason, for the audit log',
  });

  addRecordCommand(authorizations, 'acknowledge <authorization>', acknowledgeAuthorization, {
    description: 'clear the attention of an authorization; no money moves',
    reason: 'how the case was resolved, for the audit log',
  });
}
