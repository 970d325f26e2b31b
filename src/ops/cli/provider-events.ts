import type { Command } from 'commander';
import {
  getProviderEvent,
  listProviderEvents,
  REPLAYED,
  replayProviderEvent,
  replayProviderEvents,
} from '../operator-api/provider-events.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, CommandError, flagOf } from './command.js';
import { print, printLatest, printTable } from './print.js';

type Selecting = { card?: string; provider?: string; type?: string; attention?: boolean };

/** Adds the commands for provider events: list them, show one, and apply one or all of a type again. */
export function addProviderEventCommands(program: Command): void {
  const events = program.command('provider-events');
  addApiCommand<Selecting>(
    events,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} provider events`)
        .option('--provider <name>', 'only events of this provider')
        .option('--type <event>', 'only events of this type, for example transfer.reversed')
        .option('--card <id>', 'only events about this card')
        .option('--attention', 'only events that need an operator, the oldest first'),
    async (operator, { json, options: { attention, ...selecting } }) => {
      const { card, provider, type } = selecting;
      const query = {
        attention: flagOf(attention),
        ...(card !== undefined && { card }),
        ...(provider !== undefined && { provider }),
        ...(type !== undefined && { type }),
      };
      printLatest(json, await operator.call(listProviderEvents, { query }), LISTED);
    },
  );
  addRecordCommand(events, 'show <event>', getProviderEvent, {
    description: 'show an event with its facts and its masked message',
  });
  addApiCommand<{ provider?: string; type?: string }>(
    events,
    'replay [event]',
    (command) =>
      command
        .description('apply a provider event again, or with --type all failed events of a type')
        .option('--type <event>', `all failed events of this type, at most ${REPLAYED}`)
        .option('--provider <name>', 'with --type: only events of this provider'),
    async (operator, { json, args, options: { type, provider } }) => {
      const id = args[0];
      if (id === undefined && type !== undefined) {
        const body = { type, ...(provider !== undefined && { provider }) };
        return printTable(json, await operator.call(replayProviderEvents, { body }));
      }
      if (id === undefined || type !== undefined) {
        throw new CommandError('give either the id of an event or --type');
      }
      const input = { params: { id }, body: {} };
      print(json, await operator.call(replayProviderEvent, input, noSuch(id)));
    },
  );
}

const noSuch = (id: string) => `there is no event ${id}`;
