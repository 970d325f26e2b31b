import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Card } from '../../capabilities/cards/card.js';
import { presentCard, presentOperationRow } from '../../capabilities/cards/presenter.js';
import type { Deps } from '../../composition/deps.js';
import { isId } from '../../shared/ids.js';
import { toWireAmount } from '../../shared/money.js';
import { addCommand, CommandError } from './command.js';
import { print, printLatest, printTable } from './print.js';
import {
  addOperatorCommands,
  findRecord,
  printWithTimeline,
  instructionOf,
} from './instructions.js';

const LISTED = 100;

type List = { attention?: boolean; tenant?: string };

/** Adds the commands for cards and their operations. */
export function addCardCommands(program: Command): void {
  const cards = program.command('cards');
  const operations = instructionOf('cards');

  addCommand<List>(
    cards,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} cards, or the operations that need an operator`)
        .option('--attention', 'list operations that need an operator, instead of cards')
        .option('--tenant <id>', 'only cards of this tenant'),
    async (deps, { json, options: { attention = false, tenant: tenantId } }) => {
      const rows = attention
        ? (await deps.cards.operations.latest({ attention, limit: LISTED })).map(
            presentOperationRow,
          )
        : (await deps.cards.store.latest({ ...(tenantId && { tenantId }), limit: LISTED })).map(
            cardRow,
          );
      printLatest(json, rows, LISTED);
    },
  );

  addCommand(
    cards,
    'show <id>',
    (command) => command.description('show a card with its operations, or one operation'),
    async (deps, { json, args }) => {
      const id = String(args[0]);
      if (isId('card', id)) return showCard(deps, json, id);
      const operation = await findRecord(deps, operations, id);
      await printWithTimeline(deps, json, operation, operations.presentDetails(operation));
    },
  );

  addUnload(cards);
  addOperatorCommands(cards, operations);
}

/** Adds the command that asks the issuer once more for the balance of a closed or expired card. */
function addUnload(cards: Command): void {
  addCommand<{ reason: string; actor: string }>(
    cards,
    'unload <card>',
    (command) =>
      command
        .description('take the balance of a closed or expired card back from the issuer once more')
        .requiredOption('--reason <text>', 'the reason, for the timeline')
        .option('--actor <name>', 'your name, for the timeline', userInfo().username),
    async (deps, { json, args, options }) => {
      const card = await findCard(deps, String(args[0]));
      if (!(await deps.cardUnloads.retry(card, options))) {
        throw new CommandError(`no unloading of ${card._id} has failed`);
      }
      print(json, { id: card._id, done: true });
    },
  );
}

async function findCard({ cards }: Deps, id: string): Promise<Card> {
  const card = await cards.store.find(id);
  if (!card) throw new CommandError(`there is no card ${id}`);
  return card;
}

async function showCard(deps: Deps, json: boolean, id: string) {
  const { cards } = deps;
  const card = await findCard(deps, id);
  const operations = (await cards.operations.ofCard(card, LISTED)).map(presentOperationRow);
  const shown = {
    ...presentCard(card),
    tenant: card.tenant_id,
    available_minor: toWireAmount(card.available_minor),
    held_minor: toWireAmount(card.held_minor),
    open_holds: card.open_holds,
    control: card.state_control,
    unload: card.unload,
  };
  if (json) return print(json, { ...shown, operations });
  print(json, shown);
  printTable(json, operations);
}

const cardRow = (card: Card) => ({
  id: card._id,
  tenant: card.tenant_id,
  status: card.status,
  funding: card.funding,
  last4: card.issued?.last4 ?? null,
  available_minor: toWireAmount(card.available_minor),
  created_at: card.created_at.toISOString(),
});
