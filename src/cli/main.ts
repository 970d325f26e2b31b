#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from 'commander';
import { KEY_LEVELS, type KeyLevel } from '../api-keys/api-key.js';
import type { Deps } from '../deps.js';
import { createDeps } from '../deps.js';
import { auditLedger } from '../ledger/audit.js';
import { creditWallet } from '../ledger/credit.js';
import { toWireAmount } from '../money.js';
import { FEATURES, PLAN_NAMES, type Feature, type Plan } from '../tenants/tenant.js';
import { presentTransfer } from '../transfers/presenter.js';
import { findService } from './connect.js';
import { print, printTable } from './print.js';

const program = new Command('bursar')
  .description(
    "The operator's command line: finds the running service by the environment or by dev.json.",
  )
  .option('--json', 'print JSON, for programs')
  .showHelpAfterError();

/** Runs one command with a connection to the service, and closes it whatever happens. */
function withService<Options>(run: (deps: Deps, json: boolean, options: Options) => Promise<void>) {
  return async (options: Options, command: Command) => {
    const deps = await createDeps(findService(), 'cli');
    try {
      await run(deps, Boolean(command.optsWithGlobals().json), options);
    } finally {
      await deps.close();
    }
  };
}

const amount = (text: string): bigint => {
  if (!/^[1-9][0-9]{0,15}$/.test(text))
    throw new InvalidArgumentError('a whole number of kobo is needed.');
  return BigInt(text);
};
const whole = (text: string): number => Number(amount(text));

/** Every command takes --json, before or after its own name. */
const command = (parent: Command, name: string) =>
  parent.command(name).addOption(new Option('--json', 'print JSON').hideHelp());

const tenants = program.command('tenants').description('who may use the service');
command(tenants, 'create')
  .requiredOption('--name <name>')
  .addOption(new Option('--plan <plan>').choices(PLAN_NAMES).makeOptionMandatory())
  .option('--rate-per-minute <n>', 'a rate of its own', whole)
  .option('--daily-limit-minor <n>', 'what it may transfer in a day, in kobo', amount)
  .action(
    withService<{ name: string; plan: Plan; ratePerMinute?: number; dailyLimitMinor?: bigint }>(
      async ({ tenants }, json, options) => {
        const tenant = await tenants.create(options);
        print(json, { id: tenant.id, name: tenant.name, plan: tenant.plan });
      },
    ),
  );
command(tenants, 'list').action(
  withService(async ({ tenants }, json) => {
    const rows = (await tenants.list()).map(({ id, name, plan }) => ({ id, name, plan }));
    printTable(json, rows);
  }),
);
tenants
  .command('update <tenant>')
  .addOption(new Option('--json').hideHelp())
  .requiredOption('--feature <name=on|off>', `one of ${FEATURES.join(', ')}`, parseFeature)
  .action(async (id: string, options: { feature: [Feature, boolean] }, cmd: Command) => {
    const [feature, on] = options.feature;
    await withService(async ({ tenants }, json) => {
      const tenant = await tenants.updateFeatures(id, { [feature]: on });
      if (!tenant) throw new Error(`there is no tenant ${id}`);
      print(json, { id: tenant.id, ...tenant.features });
    })(options, cmd);
  });

function parseFeature(text: string): [Feature, boolean] {
  const [name, value] = text.split('=');
  const feature = FEATURES.find((known) => known === name);
  if (!feature || (value !== 'on' && value !== 'off')) {
    throw new InvalidArgumentError(`one of ${FEATURES.join(', ')}, followed by =on or =off.`);
  }
  return [feature, value === 'on'];
}

const keys = program.command('keys').description('API keys');
command(keys, 'create')
  .requiredOption('--tenant <id>')
  .addOption(new Option('--level <level>').choices(KEY_LEVELS).makeOptionMandatory())
  .option('--public', 'a key for clients, not for servers')
  .option('--label <text>')
  .action(
    withService<{ tenant: string; level: KeyLevel; public?: boolean; label?: string }>(
      async ({ apiKeys }, json, options) => {
        const kind = options.public ? 'public' : 'secret';
        print(json, await apiKeys.create({ ...options, kind }));
      },
    ),
  );
command(keys, 'list')
  .requiredOption('--tenant <id>')
  .action(
    withService<{ tenant: string }>(async ({ apiKeys }, json, { tenant }) => {
      const rows = (await apiKeys.list(tenant)).map((key) => ({
        id: key.id,
        kind: key.kind,
        level: key.level,
        label: key.label,
        created_at: key.createdAt.toISOString(),
        last_used_at: key.lastUsedAt?.toISOString() ?? null,
        revoked_at: key.revokedAt?.toISOString() ?? null,
        rotation_due: key.rotationDue,
      }));
      printTable(json, rows);
    }),
  );
keys
  .command('revoke <key>')
  .addOption(new Option('--json').hideHelp())
  .action(async (id: string, options: object, cmd: Command) => {
    await withService(async ({ apiKeys }, json) => {
      if (!(await apiKeys.revoke(id))) throw new Error(`there is no key ${id}`);
      print(json, { id, revoked: true });
    })(options, cmd);
  });

const wallets = program.command('wallets').description('money that can be spent');
command(wallets, 'credit')
  .requiredOption('--tenant <id>')
  .requiredOption('--amount-minor <n>', 'kobo', amount)
  .requiredOption('--reference <text>', 'a repeat with the same reference credits nothing')
  .action(
    withService<{ tenant: string; amountMinor: bigint; reference: string }>(
      async ({ tenants, groupCommit }, json, options) => {
        if (!(await tenants.get(options.tenant)))
          throw new Error(`there is no tenant ${options.tenant}`);
        const { availableMinor } = await creditWallet(groupCommit, options);
        print(json, { available_minor: toWireAmount(availableMinor) });
      },
    ),
  );

const transfers = program.command('transfers').description('what was promised');
command(transfers, 'list')
  .option('--attention', 'only those that wait for an operator')
  .action(
    withService<{ attention?: boolean }>(async ({ transfers }, json, { attention }) => {
      const rows = (await transfers.latest({ attention: attention ?? false, limit: 100 })).map(
        (t) => ({
          id: t._id,
          tenant: t.tenant,
          status: t.status,
          amount_minor: toWireAmount(t.amount_minor),
          attention: t.attention?.reason ?? null,
          created_at: t.created_at.toISOString(),
        }),
      );
      printTable(json, rows);
    }),
  );
transfers
  .command('show <transfer>')
  .addOption(new Option('--json').hideHelp())
  .action(async (id: string, options: object, cmd: Command) => {
    await withService(async ({ transfers }, json) => {
      const tenant = await transfers.tenantOf(id);
      const transfer = tenant && (await transfers.get(tenant, id));
      if (!transfer) throw new Error(`there is no transfer ${id}`);
      const timeline = transfer.timeline.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
      if (json) return print(json, { ...presentTransfer(transfer), timeline });
      print(json, presentTransfer(transfer));
      printTable(json, timeline);
    })(options, cmd);
  });

const ledger = program.command('ledger').description('the books');
command(ledger, 'verify').action(
  withService(async ({ database }, json) => {
    const { postings, transfers, balances, problems } = await auditLedger(database);
    const sum = [...balances.values()].reduce((total, balance) => total + balance, 0n);
    print(json, {
      ok: problems.length === 0,
      postings,
      transfers,
      sum_minor: Number(sum),
      problems,
    });
    if (problems.length > 0) process.exitCode = 1;
  }),
);

try {
  await program.parseAsync();
} catch (error) {
  console.error(`bursar: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
