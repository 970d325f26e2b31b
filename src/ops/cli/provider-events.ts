import type { Command } from 'commander';
import type { StoredCardEvent } from '../../core/provider-events/event.js';
import type { Deps } from '../../composition/deps.js';
import { addCommand, CommandError } from './command.js';
import { print, printLatest } from './print.js';

const LISTED = 100;

/** Adds the commands for provider events about cards: list them, and apply one again. */
export function addProviderEventCommands(program: Command): void {
  const events = program.command('provider-events');
  addCommand<{ card?: string; attention?: boolean }>(
    events,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED}`)
        .option('--card <id>')
        .option('--attention', 'only those that could not be applied, the oldest first'),
    async ({ cardEvents }, { json, options: { card, attention = false } }) => {
      const query = { attention, limit: LISTED, ...(card !== undefined && { card }) };
      printLatest(json, (await cardEvents.store.latest(query)).map(presentRow), LISTED);
    },
  );
  addCommand(
    events,
    'replay <event>',
    (command) => command.description('apply a provider event again'),
    async (deps, { json, args }) => {
      print(json, await replayEvent(deps, String(args[0])));
    },
  );
}

/** Starts a replay, which the worker carries out. Its result is in the list, or in the replay that is returned here. */
async function replayEvent({ cardEvents }: Deps, id: string) {
  const event = await cardEvents.store.find(id);
  if (!event) throw new CommandError(`there is no event ${id}`);
  const owned = await cardEvents.owned(event);
  if (!owned) throw new CommandError(`${id} is about no card of ours`);
  const { resource } = await cardEvents.replay(owned, null);
  return { id, replay: resource };
}

const presentRow = (event: StoredCardEvent) => ({
  id: event._id,
  tenant: event.tenant_id,
  card: event.card_id,
  provider: event.provider,
  event: event.event,
  status: event.status,
  outcome: event.result,
  tries: event.attempt_count,
  received_at: event.received_at.toISOString(),
  processed_at: event.processed_at?.toISOString() ?? null,
});
