import type { Command } from 'commander';
import { getProvider, listProviders, resumeProvider } from '../operator-api/providers.js';
import { addApiCommand } from './command.js';
import { print, printTable } from './print.js';

/** Adds the commands for the providers: their health, their faults, and words that no adapter knows. */
export function addProviderCommands(program: Command): void {
  const providers = program.command('providers');

  addApiCommand(
    providers,
    'list',
    (command) => command.description('list providers with their health and faults'),
    async (operator, { json }) => printTable(json, await operator.call(listProviders, {})),
  );

  addApiCommand(
    providers,
    'show <provider>',
    (command) => command.description('show a provider with its faults, also those that have ended'),
    async (operator, { json, args }) => {
      const provider = String(args[0]);
      const input = { params: { provider } };
      print(json, await operator.call(getProvider, input, `there is no provider ${provider}`));
    },
  );

  addApiCommand<{ reason?: string }>(
    providers,
    'resume <provider>',
    (command) =>
      command
        .description('end the faults of a provider, so that first submissions to it go on')
        .option('--reason <text>', 'the reason, for the audit log'),
    async (operator, { json, args, options: { reason } }) => {
      const body = reason === undefined ? {} : { reason };
      const input = { params: { provider: String(args[0]) }, body };
      print(json, await operator.call(resumeProvider, input));
    },
  );
}
