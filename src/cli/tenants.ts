import { InvalidArgumentError, Option, type Command } from 'commander';
import { FEATURES, PLAN_NAMES, type Feature, type Plan } from '../tenants/tenant.js';
import { addCommand, CommandError, parseAmount } from './command.js';
import { print, printTable } from './print.js';

type Create = { name: string; plan: Plan; ratePerMinute?: number; dailyLimitMinor?: bigint };

export function addTenantCommands(program: Command): void {
  const tenants = program.command('tenants').description('who may use the service');

  addCommand<Create>(
    tenants,
    'create',
    (command) =>
      command
        .requiredOption('--name <name>')
        .addOption(new Option('--plan <plan>').choices(PLAN_NAMES).makeOptionMandatory())
        .option('--rate-per-minute <n>', 'a rate of its own', (text) => Number(parseAmount(text)))
        .option('--daily-limit-minor <n>', 'what it may transfer in a day, in kobo', parseAmount),
    async (deps, { json, options }) => {
      const tenant = await deps.tenants.create(options);
      print(json, { id: tenant.id, name: tenant.name, plan: tenant.plan });
    },
  );

  addCommand(
    tenants,
    'list',
    (command) => command,
    async (deps, { json }) => {
      printTable(
        json,
        (await deps.tenants.list()).map(({ id, name, plan }) => ({ id, name, plan })),
      );
    },
  );

  addCommand<{ feature: [Feature, boolean] }>(
    tenants,
    'update <tenant>',
    (command) =>
      command.requiredOption(
        '--feature <name=on|off>',
        `one of ${FEATURES.join(', ')}`,
        parseFeature,
      ),
    async (deps, { json, options, args }) => {
      const [feature, on] = options.feature;
      const tenant = await deps.tenants.updateFeatures(String(args[0]), { [feature]: on });
      if (!tenant) throw new CommandError(`there is no tenant ${args[0]}`);
      print(json, { id: tenant.id, ...tenant.features });
    },
  );
}

function parseFeature(text: string): [Feature, boolean] {
  const [name, value] = text.split('=');
  const feature = FEATURES.find((known) => known === name);
  if (!feature || (value !== 'on' && value !== 'off')) {
    throw new InvalidArgumentError(`one of ${FEATURES.join(', ')}, followed by =on or =off.`);
  }
  return [feature, value === 'on'];
}
