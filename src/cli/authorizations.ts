import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { CardAuthorization } from '../cards/authorizations/authorization.js';
import { presentAuthorization } from '../cards/authorizations/presenter.js';
import type { Deps } from '../deps.js';
import { toWireAmount } from '../money.js';
import { addCommand, CommandError } from './command.js';
import { print, printLatest, printTable } from './print.js';

const LISTED = 100;

/** Payments with cards. What became of one is its issuer's to say; operators look, and say that they have. */
export function addAuthorizationCommands(program: Command): void {
  const authorizations = program.command('authorizations');
  addCommand<{ card?: string; attention?: boolean }>(
    authorizations,
    'list',
    (command) =>
      command
        .option('--card <id>')
        .option('--attention', 'only those that wait for an operator, the oldest first'),
    async (deps, { json, options: { card, attention = false } }) => {
      if (card === undefined && !attention)
        throw new CommandError('of what: --card or --attention?');
      const query = { attention, limit: LISTED, ...(card !== undefined && { card }) };
      printLatest(json, (await deps.authorizations.store.latest(query)).map(row), LISTED);
    },
  );

  addCommand(
    authorizations,
    'show <authorization>',
    (command) => command,
    async (deps, { json, args }) => {
      const found = await find(deps, String(args[0]));
      const shown = { ...presentAuthorization(found), tenant: found.tenant };
      const timeline = found.timeline.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
      if (json) return print(json, { ...shown, timeline });
      print(json, shown);
      printTable(json, timeline);
    },
  );

  addCommand<{ reason: string; actor: string }>(
    authorizations,
    'seen <authorization>',
    (command) =>
      command
        .description('no operator is waited for any more; no money moves')
        .requiredOption('--reason <text>', 'what was done about it, for the timeline')
        .option('--actor <name>', 'who, for the timeline', userInfo().username),
    async (deps, { json, args, options: { reason, actor } }) => {
      const found = await find(deps, String(args[0]));
      const { _id: id, attention } = found;
      const seen = await deps.authorizations.store.seen(found, { actor, reason });
      if (!seen) throw new CommandError(`${id} waits for nobody, or for something new: look again`);
      print(json, { id, seen: attention?.reason ?? null });
    },
  );
}

async function find({ authorizations }: Deps, id: string): Promise<CardAuthorization> {
  const found = await authorizations.store.find(id);
  if (!found) throw new CommandError(`there is no authorization ${id}`);
  return found;
}

const row = (authorization: Omit<CardAuthorization, 'timeline'>) => ({
  id: authorization._id,
  card: authorization.card,
  tenant: authorization.tenant,
  status: authorization.status,
  amount_minor: toWireAmount(authorization.amount_minor),
  held_minor: toWireAmount(authorization.held_minor),
  cleared_minor: toWireAmount(authorization.cleared_minor),
  attention: authorization.attention?.reason ?? null,
  created_at: authorization.created_at.toISOString(),
});
