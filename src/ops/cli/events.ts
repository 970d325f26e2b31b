import type { Command } from 'commander';
import { isId } from '../../shared/ids.js';
import { replayProviderEvent } from '../operator-api/provider-events.js';
import { replayEvent } from '../operator-api/webhooks.js';
import { addApiCommand } from './command.js';
import { print } from './print.js';

/** Adds the command that replays an event of either kind; its id names the kind. */
export function addEventCommands(program: Command): void {
  addApiCommand(
    program.command('events'),
    'replay <event>',
    (command) =>
      command.description(
        'send an event (evt_…) to all endpoints that its tenant has now, or apply a provider event (pev_…) again',
      ),
    async (operator, { json, args }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: {} };
      const missing = `there is no event ${id}`;
      const replay = isId('providerEvent', id)
        ? operator.call(replayProviderEvent, input, missing)
        : operator.call(replayEvent, input, missing);
      print(json, await replay);
    },
  );
}
