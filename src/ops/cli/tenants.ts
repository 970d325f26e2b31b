import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  FEATURES,
  PLAN_NAMES,
  SAFEGUARD_NAMES,
  type Feature,
  type Plan,
  type Safeguard,
} from '../../platform/tenants/tenant.js';
import {
  createTenant,
  freezeTenant,
  getTenant,
  listTenants,
  updateTenant,
} from '../operator-api/tenants.js';
import {
  addApiCommand,
  addRecordCommand,
  CommandError,
  parseAmount,
  parseWhole,
} from './command.js';
import { print, printTable } from './print.js';

/** With bursts of one and a half times the rate, the count still fits its field. */
const parseRate = parseWhole(1, 1_000_000_000);

type Create = { name: string; plan: Plan; ratePerMinute?: number; dailyLimitMinor?: bigint };
type Update = Omit<Partial<Create>, 'name'> & {
  minAmountMinor?: bigint;
  maxAmountMinor?: bigint;
  billFeeMinor?: bigint;
  planRate?: boolean;
  feature?: Partial<Record<Feature, boolean>>;
  safeguard?: Partial<Record<Safeguard, number>>;
  dunningDays?: number[];
  defaultDunning?: boolean;
};

/** Adds the commands for tenants. */
export function addTenantCommands(program: Command): void {
  const tenants = program.command('tenants');
  addUpdate(tenants);
  addFreeze(tenants);

  addApiCommand<Create>(
    tenants,
    'create',
    (command) =>
      command
        .description('create a tenant')
        .requiredOption('--name <name>', 'name of the tenant')
        .addOption(
          new Option('--plan <plan>', 'plan of the tenant')
            .choices(PLAN_NAMES)
            .makeOptionMandatory(),
        )
        .option('--rate-per-minute <n>', 'custom rate limit of the tenant', parseRate)
        .option('--daily-limit-minor <n>', 'daily transfer limit in kobo', parseAmount),
    async (operator, { json, options: { name, plan, ratePerMinute, dailyLimitMinor } }) => {
      const body = {
        name,
        plan,
        ...(ratePerMinute !== undefined && { rate_per_minute: ratePerMinute }),
        ...(dailyLimitMinor !== undefined && { daily_limit_minor: Number(dailyLimitMinor) }),
      };
      print(json, await operator.call(createTenant, { body }));
    },
  );

  addApiCommand(
    tenants,
    'list',
    (command) => command.description('list all tenants'),
    async (operator, { json }) => printTable(json, await operator.call(listTenants, {})),
  );

  addRecordCommand(tenants, 'show <tenant>', getTenant, {
    description: 'show a tenant with its limits and features',
  });
}

function addFreeze(tenants: Command): void {
  const changes = {
    freeze:
      'accept nothing new, decline authorizations, let renewals and reloads wait; what is under way ends',
    unfreeze: 'end the freeze of a tenant',
  } as const;
  for (const change of ['freeze', 'unfreeze'] as const) {
    addApiCommand<{ reason?: string }>(
      tenants,
      `${change} <tenant>`,
      (command) =>
        command
          .description(changes[change])
          .option('--reason <text>', 'the reason, for the audit log'),
      async (operator, { json, args, options: { reason } }) => {
        const id = String(args[0]);
        const input = { params: { id, change }, body: { ...(reason !== undefined && { reason }) } };
        print(json, await operator.call(freezeTenant, input, noTenant(id)));
      },
    );
  }
}

function addUpdate(tenants: Command): void {
  addApiCommand<Update>(
    tenants,
    'update <tenant>',
    (command) =>
      command
        .description('change the given settings; every process applies them within a second')
        .addOption(new Option('--plan <plan>', 'plan of the tenant').choices(PLAN_NAMES))
        .option('--rate-per-minute <n>', 'custom rate limit of the tenant', parseRate)
        .addOption(
          new Option('--plan-rate', 'use the rate limit of the plan').conflicts('ratePerMinute'),
        )
        .option('--min-amount-minor <n>', 'least amount of one transfer in kobo', parseAmount)
        .option('--max-amount-minor <n>', 'highest amount of one transfer in kobo', parseAmount)
        .option('--daily-limit-minor <n>', 'daily transfer limit in kobo', parseAmount)
        .option('--bill-fee-minor <n>', 'fee of one bill payment in kobo, or 0', parseFee)
        .option(
          '--feature <name=on|off>',
          `turn a feature on or off (${FEATURES.join(', ')}); repeatable`,
          named(FEATURES, parseSwitch),
        )
        .option(
          '--safeguard <name=n>',
          `requests per minute of a safeguard (${SAFEGUARD_NAMES.join(', ')}); repeatable`,
          named(SAFEGUARD_NAMES, parseRate),
        )
        .option(
          '--dunning-days <days>',
          'days after which a declined charge is retried, such as 1,3,5,7, or none',
          parseDays,
        )
        .addOption(
          new Option(
            '--default-dunning',
            'retry declined charges on the default days of the deployment',
          ).conflicts('dunningDays'),
        ),
    async (operator, { json, options, args }) => {
      const body = changesOf(options);
      if (Object.keys(body).length === 0)
        throw new CommandError('give at least one setting to change');
      const id = String(args[0]);
      print(json, await operator.call(updateTenant, { params: { id }, body }, noTenant(id)));
    },
  );
}

const noTenant = (id: string) => `there is no tenant ${id}`;

/** The settings that an update names. */
function changesOf({
  plan,
  ratePerMinute,
  planRate,
  minAmountMinor: minMinor,
  maxAmountMinor: maxMinor,
  dailyLimitMinor,
  billFeeMinor,
  feature,
  safeguard,
  dunningDays,
  defaultDunning,
}: Update) {
  return {
    ...(plan && { plan }),
    ...(ratePerMinute && { rate_per_minute: ratePerMinute }),
    ...(planRate && { rate_per_minute: null }),
    ...(minMinor && { min_amount_minor: Number(minMinor) }),
    ...(maxMinor && { max_amount_minor: Number(maxMinor) }),
    ...(dailyLimitMinor && { daily_limit_minor: Number(dailyLimitMinor) }),
    ...(feature && { features: feature }),
    ...(safeguard && { safeguards: safeguard }),
    ...(dunningDays && { dunning_days: dunningDays }),
    ...(defaultDunning && { dunning_days: null }),
    ...(billFeeMinor !== undefined && { bill_fee_minor: Number(billFeeMinor) }),
  };
}

/** Creates a parser that collects `name=value` options of known names. */
function named<Name extends string, Value>(
  names: readonly Name[],
  parse: (text: string) => Value,
): (text: string, earlier?: Partial<Record<Name, Value>>) => Partial<Record<Name, Value>> {
  return (text, earlier = {}) => {
    const [given, value = ''] = text.split('=');
    const name = names.find((known) => known === given);
    if (!name)
      throw new InvalidArgumentError(`must be one of ${names.join(', ')}, then = and its value.`);
    return { ...earlier, [name]: parse(value) };
  };
}

/** Parses days after the first decline in ascending order; `none` makes a soft decline final. */
function parseDays(text: string): number[] {
  if (text === 'none') return [];
  const days = text.split(',').map(Number);
  const rises = days.every((day, i) => day > (days[i - 1] ?? 0) && day <= 90);
  if (rises && days.length <= 20) return days;
  throw new InvalidArgumentError(
    'must be at most 20 increasing numbers of days, each at most 90, or none.',
  );
}

const parseFee = (text: string): bigint => (text === '0' ? 0n : parseAmount(text));

function parseSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('must be on or off.');
  return text === 'on';
}
