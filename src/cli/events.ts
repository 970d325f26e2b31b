import type { Command } from 'commander';
import type { StoredCardEvent } from '../cards/events/event.js';
import type { Deps } from '../deps.js';
import { isId } from '../ids.js';
import { addCommand, CommandError } from './command.js';
import { print, printLatest } from './print.js';

const LISTED = 100;

/** Events in both directions: what tenants are told (`evt_`), and what issuers told us about cards (`cwe_`). */
export function addEventCommands(program: Command): void {
  const events = program.command('events');
  addCommand<{ card?: string; attention?: boolean }>(
    events,
    'list',
    (command) =>
      command
        .description(`what issuers told about cards, the latest ${LISTED}`)
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
    (command) =>
      command.description(
        'evt_…: send it to all endpoints that its tenant has now; cwe_…: apply it once more',
      ),
    async (deps, { json, args }) => {
      const id = String(args[0]);
      print(json, isId('cardEvent', id) ? await applyAgain(deps, id) : await sendAgain(deps, id));
    },
  );
}

async function sendAgain({ webhooks }: Deps, id: string) {
  const deliveries = await webhooks.replay(id);
  if (!deliveries) throw new CommandError(`there is no event ${id}`);
  return { id, deliveries };
}

/** The worker does it: what it came to is in the list, or at the replay that is named here. */
async function applyAgain({ cardEvents }: Deps, id: string) {
  const event = await cardEvents.store.find(id);
  if (!event) throw new CommandError(`there is no event ${id}`);
  const owned = await cardEvents.owned(event);
  if (!owned) throw new CommandError(`${id} is about no card of ours`);
  const { resource } = await cardEvents.replay(owned, null);
  return { id, replay: resource };
}

const presentRow = (event: StoredCardEvent) => ({
  id: event._id,
  tenant: event.tenant,
  card: event.card,
  provider: event.provider,
  event: event.event,
  status: event.status,
  outcome: event.outcome,
  tries: event.tries,
  received_at: event.received_at.toISOString(),
  processed_at: event.processed_at?.toISOString() ?? null,
});
