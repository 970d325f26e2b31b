import { InvalidArgumentError, Option, type Command } from 'commander';
import { toWireAmount } from '../../shared/money.js';
import {
  allowance,
  FEATURES,
  PLAN_NAMES,
  SAFEGUARD_NAMES,
  safeguardAllowance,
  type Feature,
  type Plan,
  type Safeguard,
  type Tenant,
} from '../../platform/tenants/tenant.js';
import { addCommand, CommandError, parseAmount, parseWhole } from './command.js';
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

  addCommand<Create>(
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
    async (deps, { json, options }) => {
      const tenant = await deps.tenants.create(options);
      print(json, { id: tenant.id, name: tenant.name, plan: tenant.plan });
    },
  );

  addCommand(
    tenants,
    'list',
    (command) => command.description('list all tenants'),
    async (deps, { json }) => {
      printTable(
        json,
        (await deps.tenants.list()).map(({ id, name, plan }) => ({ id, name, plan })),
      );
    },
  );

  addCommand(
    tenants,
    'show <tenant>',
    (command) => command.description('show a tenant with its limits and features'),
    async (deps, { json, args }) => {
      print(json, presentTenant(found(await deps.tenants.get(String(args[0])), args[0])));
    },
  );
}

function addUpdate(tenants: Command): void {
  addCommand<Update>(
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
    async (deps, { json, options, args }) => {
      const changes = changesOf(options);
      if (Object.keys(changes).length === 0)
        throw new CommandError('give at least one setting to change');
      const id = String(args[0]);
      const { limits } = found(await deps.tenants.get(id), id);
      if ((changes.minMinor ?? limits.minMinor) > (changes.maxMinor ?? limits.maxMinor)) {
        throw new CommandError('the least amount of a transfer is above the highest');
      }
      print(json, presentTenant(found(await deps.tenants.update(id, changes), id)));
    },
  );
}

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
    ...(ratePerMinute && { ratePerMinute }),
    ...(planRate && { ratePerMinute: null }),
    ...(minMinor && { minMinor }),
    ...(maxMinor && { maxMinor }),
    ...(dailyLimitMinor && { dailyLimitMinor }),
    ...(billFeeMinor !== undefined && { billFeeMinor }),
    ...(feature && { features: feature }),
    ...(safeguard && { safeguards: safeguard }),
    ...(dunningDays && { dunningDays }),
    ...(defaultDunning && { dunningDays: null }),
  };
}

function found(tenant: Tenant | null, id: unknown): Tenant {
  if (!tenant) throw new CommandError(`there is no tenant ${String(id)}`);
  return tenant;
}

function presentTenant(tenant: Tenant) {
  const { rate, burst } = allowance(tenant);
  const safeguards = SAFEGUARD_NAMES.map((name) => [name, safeguardAllowance(tenant, name).rate]);
  return {
    id: tenant.id,
    name: tenant.name,
    plan: tenant.plan,
    rate_per_minute: rate,
    burst_per_minute: burst,
    min_amount_minor: toWireAmount(tenant.limits.minMinor),
    max_amount_minor: toWireAmount(tenant.limits.maxMinor),
    daily_limit_minor: toWireAmount(tenant.limits.dailyMinor),
    bill_fee_minor: toWireAmount(tenant.billFeeMinor),
    dunning_days: tenant.dunningDays ?? 'default',
    ...tenant.features,
    safeguards: Object.fromEntries(safeguards) as Record<Safeguard, number>,
    created_at: tenant.createdAt.toISOString(),
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
