import type { Command } from 'commander';
import type { Deps } from '../../composition/deps.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import type { ProviderEventSelection } from '../../core/provider-events/store.js';
import { addCommand, CommandError } from './command.js';
import { print, printLatest, printTable } from './print.js';

const LISTED = 100;
/** Replays of one command. A further call takes the next ones. */
const REPLAYED = 1_000;

type Selecting = { card?: string; provider?: string; type?: string; attention?: boolean };

/** Adds the commands for provider events: list them, show one, and apply one or all of a type again. */
export function addProviderEventCommands(program: Command): void {
  const events = program.command('provider-events');
  addCommand<Selecting>(
    events,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} provider events`)
        .option('--provider <name>', 'only events of this provider')
        .option('--type <event>', 'only events of this type, for example transfer.reversed')
        .option('--card <id>', 'only events about this card')
        .option('--attention', 'only events that need an operator, the oldest first'),
    async ({ providerEvents }, { json, options }) => {
      const found = await providerEvents.store.latest(selectionOf(options, LISTED));
      printLatest(json, found.map(presentRow), LISTED);
    },
  );
  addCommand(
    events,
    'show <event>',
    (command) => command.description('show an event with its facts and its masked message'),
    async (deps, { json, args }) => {
      print(json, presentEvent(await findEvent(deps, String(args[0]))));
    },
  );
  addCommand<{ provider?: string; type?: string }>(
    events,
    'replay [event]',
    (command) =>
      command
        .description('apply a provider event again, or with --type all failed events of a type')
        .option('--type <event>', `all failed events of this type, at most ${REPLAYED}`)
        .option('--provider <name>', 'with --type: only events of this provider'),
    async (deps, { json, args, options }) => {
      const id = args[0];
      if ((id === undefined) === (options.type === undefined)) {
        throw new CommandError('give either the id of an event or --type');
      }
      if (id !== undefined) {
        return print(json, await replayEvent(deps, await findEvent(deps, id)));
      }
      const selection = selectionOf({ ...options, attention: true }, REPLAYED);
      const replays = [];
      for (const event of await deps.providerEvents.store.latest(selection)) {
        replays.push(await replayEvent(deps, event));
      }
      printTable(json, replays);
    },
  );
}

const selectionOf = (
  { card, provider, type, attention = false }: Selecting,
  limit: number,
): ProviderEventSelection => ({
  attention,
  limit,
  ...(card !== undefined && { card }),
  ...(provider !== undefined && { provider }),
  ...(type !== undefined && { type }),
});

async function findEvent({ providerEvents }: Deps, id: string): Promise<ProviderEvent> {
  const event = await providerEvents.store.find(id);
  if (!event) throw new CommandError(`there is no event ${id}`);
  return event;
}

/** Starts a replay, which the worker carries out. Its result is in the list, or in the replay that is returned here. */
async function replayEvent({ providerEvents }: Deps, event: ProviderEvent) {
  const owned = await providerEvents.withOwner(event, true);
  const { resource } = await providerEvents.replay(owned, null);
  return { id: event._id, replay: resource };
}

const presentRow = (event: ProviderEvent) => ({
  id: event._id,
  tenant: event.tenant_id,
  card: event.card_id,
  provider: event.provider,
  event: event.event,
  reference: event.facts[0]?.reference ?? null,
  status: event.status,
  outcome: event.result,
  tries: event.attempt_count,
  received_at: event.received_at.toISOString(),
  processed_at: event.processed_at?.toISOString() ?? null,
});

/** Every field is named here, so that a sealed secret is not shown. */
const presentEvent = (event: ProviderEvent) => ({
  ...presentRow(event),
  port: event.port,
  reading: event.reading,
  attention: event.attention && {
    since: event.attention.since.toISOString(),
    reason: event.attention.reason,
  },
  occurred_at: event.occurred_at?.toISOString() ?? null,
  facts: event.facts.map(({ subject, reference, state }) => ({
    subject,
    reference,
    state: Object.fromEntries(
      Object.entries(state).map(([name, value]) => [
        name,
        typeof value === 'bigint' ? Number(value) : value,
      ]),
    ),
  })),
  message: event.message,
});
