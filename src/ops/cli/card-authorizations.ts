import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { CardAuthorization } from '../../capabilities/card-authorizations/card-authorization.js';
import { presentAuthorization } from '../../capabilities/card-authorizations/presenter.js';
import type { Deps } from '../../composition/deps.js';
import { toWireAmount } from '../../shared/money.js';
import { addCommand, CommandError } from './command.js';
import { print, printLatest, printTable } from './print.js';

const LISTED = 100;

/**
 * Adds the commands for card authorizations. The issuer decides their outcome; operators inspect them and acknowledge.
 */
export function addCardAuthorizationCommands(program: Command): void {
  const authorizations = program.command('card-authorizations');
  addCommand<{ card?: string; attention?: boolean }>(
    authorizations,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} of a card, or those that need an operator`)
        .option('--card <id>', 'only authorizations of this card')
        .option('--attention', 'only authorizations that need an operator, oldest first'),
    async (deps, { json, options: { card, attention = false } }) => {
      if (card === undefined && !attention) throw new CommandError('give --card or --attention');
      const query = { attention, limit: LISTED, ...(card !== undefined && { card }) };
      printLatest(json, (await deps.cardAuthorizations.store.latest(query)).map(row), LISTED);
    },
  );

  addCommand(
    authorizations,
    'show <authorization>',
    (command) => command.description('show one authorization with its timeline'),
    async (deps, { json, args }) => {
      const found = await find(deps, String(args[0]));
      const shown = { ...presentAuthorization(found), tenant: found.tenant_id };
      const timeline = found.timeline.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
      if (json) return print(json, { ...shown, timeline });
      print(json, shown);
      printTable(json, timeline);
    },
  );

  addCommand<{ reason: string; actor: string }>(
    authorizations,
    'acknowledge <authorization>',
    (command) =>
      command
        .description('clear the attention of an authorization; no money moves')
        .requiredOption('--reason <text>', 'how the case was resolved, for the timeline')
        .option('--actor <name>', 'your name, for the timeline', userInfo().username),
    async (deps, { json, args, options: { reason, actor } }) => {
      const found = await find(deps, String(args[0]));
      const { _id: id, attention } = found;
      const acknowledged = await deps.cardAuthorizations.store.acknowledge(found, {
        actor,
        reason,
      });
      if (!acknowledged)
        throw new CommandError(`${id} has no attention, or changed in this moment: show it again`);
      print(json, { id, acknowledged: attention?.reason ?? null });
    },
  );
}

async function find({ cardAuthorizations }: Deps, id: string): Promise<CardAuthorization> {
  const found = await cardAuthorizations.store.find(id);
  if (!found) throw new CommandError(`there is no authorization ${id}`);
  return found;
}

const row = (authorization: Omit<CardAuthorization, 'timeline'>) => ({
  id: authorization._id,
  card: authorization.card_id,
  tenant: authorization.tenant_id,
  status: authorization.status,
  amount_minor: toWireAmount(authorization.amount_minor),
  held_minor: toWireAmount(authorization.held_minor),
  cleared_minor: toWireAmount(authorization.cleared_minor),
  attention: authorization.attention?.reason ?? null,
  created_at: authorization.created_at.toISOString(),
});
