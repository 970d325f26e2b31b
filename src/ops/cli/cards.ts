import type { Command } from 'commander';
import { isId } from '../../shared/ids.js';
import { cardLocks, getCard, listCards, unloadCard } from '../operator-api/cards.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand } from './command.js';
import { addOperatorCommands, instructionsOf, showRecord } from './instructions.js';
import { print, printLatest, printTable } from './print.js';

type List = { attention?: boolean; tenant?: string };

/** Adds the commands for cards and their operations. */
export function addCardCommands(program: Command): void {
  const cards = program.command('cards');
  const operations = instructionsOf('cards');

  addApiCommand<List>(
    cards,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} cards, or the operations that need an operator`)
        .option('--attention', 'list operations that need an operator, instead of cards')
        .option('--tenant <id>', 'only cards of this tenant'),
    async (operator, { json, options: { attention, tenant } }) => {
      const rows = attention
        ? await operator.call(operations.operations.list, { query: { attention: 'true' } })
        : await operator.call(listCards, { query: { ...(tenant !== undefined && { tenant }) } });
      printLatest(json, rows, LISTED);
    },
  );

  addApiCommand(
    cards,
    'show <id>',
    (command) => command.description('show a card with its operations, or one operation'),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      if (!isId('card', id)) return showRecord(operator, operations, id, json);
      const found = await operator.call(getCard, { params: { id } }, `there is no card ${id}`);
      if (json) return print(json, { ...found.card, operations: found.operations });
      print(json, found.card);
      printTable(json, found.operations);
    },
  );

  addRecordCommand(cards, 'unload <card>', unloadCard, {
    description: 'take the balance of a closed or expired card back from the issuer once more',
    reason: 'the reason, for the audit log',
  });
  addLocks(cards);
  addOperatorCommands(cards, operations);
}

/** Adds `lock` and `unlock`. What an operator has locked, only operators unlock. */
function addLocks(cards: Command): void {
  const descriptions = {
    lock: 'lock a card, so that only an operator can unlock it',
    unlock: "lift an operator's lock; other locks stay",
  };
  for (const act of ['lock', 'unlock'] as const) {
    addApiCommand<{ reason: string }>(
      cards,
      `${act} <card>`,
      (command) =>
        command
          .description(descriptions[act])
          .requiredOption('--reason <text>', 'the reason, for the card and the audit log'),
      async (operator, { json, args, options: { reason } }) => {
        const id = String(args[0]);
        const input = { params: { id }, body: { reason } };
        const done = await operator.call(cardLocks[act], input, `there is no card ${id}`);
        print(json, done);
        if (!done.done) process.exitCode = 1;
      },
    );
  }
}
