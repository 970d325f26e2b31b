import type { Command } from 'commander';
import type { Deps } from '../../composition/deps.js';
import type { ProviderFault } from '../../core/providers/faults.js';
import type { ProviderHealth } from '../../core/providers/health.js';
import { addCommand, CommandError } from './command.js';
import { print, printTable } from './print.js';

/** Adds the commands for the providers: their health, their faults, and words that no adapter knows. */
export function addProviderCommands(program: Command): void {
  const providers = program.command('providers');

  addCommand(
    providers,
    'list',
    (command) => command.description('list providers with their health and faults'),
    async (deps, { json }) => {
      const { healths, faults } = await read(deps);
      printTable(
        json,
        namesOf(deps).map((name) => rowOf(name, healths.get(name), faults)),
      );
    },
  );

  addCommand(
    providers,
    'show <provider>',
    (command) => command.description('show a provider with its faults, also those that have ended'),
    async (deps, { json, args: [name = ''] }) => {
      if (!namesOf(deps).includes(name)) throw new CommandError(`there is no provider ${name}`);
      const { healths, faults } = await read(deps, { ended: true });
      print(json, {
        ...rowOf(name, healths.get(name), faults),
        history: faults.filter(({ provider }) => provider === name).map(presentFault),
      });
    },
  );

  addCommand(
    providers,
    'resume <provider>',
    (command) =>
      command.description('end the faults of a provider, so that first submissions to it go on'),
    async ({ providerFaults }, { json, args: [name = ''] }) => {
      const lasting = (await providerFaults.list()).filter(({ provider }) => provider === name);
      if (lasting.length === 0) throw new CommandError(`no fault of ${name} lasts`);
      for (const fault of lasting) await providerFaults.end(name, fault.name);
      print(json, { provider: name, ended: lasting.map((fault) => fault.name) });
    },
  );
}

async function read(deps: Deps, ended: { ended?: boolean } = {}) {
  const [healths, faults] = await Promise.all([
    deps.providerHealth.list(),
    deps.providerFaults.list(ended),
  ]);
  return { healths: new Map(healths.map((health) => [health._id, health])), faults };
}

const namesOf = ({ providers }: Deps): string[] => [
  ...new Set(
    [...providers.all, ...providers.issuers, ...providers.payments].map(({ name }) => name),
  ),
];

function rowOf(name: string, health: ProviderHealth | undefined, faults: readonly ProviderFault[]) {
  const lasting = faults.filter((each) => each.provider === name && each.ended_at === null);
  return {
    provider: name,
    up: health?.checked_at ? health.up : null,
    reason: health?.reason ?? null,
    float_minor: health?.float_minor == null ? null : Number(health.float_minor),
    currency: health?.currency ?? null,
    checked_at: health?.checked_at?.toISOString() ?? null,
    faults: lasting
      .map((fault) => (fault.kind === 'word' ? `word ${fault.name}` : fault.name))
      .join(', '),
  };
}

const presentFault = ({
  kind,
  name,
  since,
  last_seen_at,
  ended_at,
  needed_minor,
}: ProviderFault) => ({
  kind,
  name,
  since: since.toISOString(),
  last_seen_at: last_seen_at.toISOString(),
  ended_at: ended_at?.toISOString() ?? null,
  needed_minor: needed_minor == null ? null : Number(needed_minor),
});
