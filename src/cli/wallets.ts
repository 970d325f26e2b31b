import type { Command } from 'commander';
import { auditLedger } from '../ledger/audit.js';
import { readBalance } from '../ledger/balance.js';
import { creditWallet } from '../ledger/credit.js';
import { toWireAmount } from '../money.js';
import { addCommand, CommandError, parseAmount } from './command.js';
import { print } from './print.js';

type Credit = { tenant: string; amountMinor: bigint; reference: string };

export function addWalletCommands(program: Command): void {
  const wallets = program.command('wallets');
  addCommand<Credit>(
    wallets,
    'credit',
    (command) =>
      command
        .requiredOption('--tenant <id>')
        .requiredOption('--amount-minor <n>', 'kobo', parseAmount)
        .requiredOption('--reference <text>', 'a repeat with the same reference credits nothing'),
    async ({ tenants, groupCommit }, { json, options }) => {
      const { tenant, amountMinor, reference } = options;
      if (!(await tenants.get(tenant))) throw new CommandError(`there is no tenant ${tenant}`);
      const { availableMinor } = await creditWallet(groupCommit, {
        tenant,
        amountMinor,
        reference,
      });
      print(json, { available_minor: toWireAmount(availableMinor) });
    },
  );

  addCommand<{ tenant: string }>(
    wallets,
    'show',
    (command) => command.description('what its postings sum up to').requiredOption('--tenant <id>'),
    async ({ tenants, database }, { json, options: { tenant } }) => {
      if (!(await tenants.get(tenant))) throw new CommandError(`there is no tenant ${tenant}`);
      const { availableMinor, heldMinor, owedMinor } = await readBalance(database, tenant);
      print(json, {
        available_minor: toWireAmount(availableMinor),
        held_minor: toWireAmount(heldMinor),
        owed_minor: toWireAmount(owedMinor),
      });
    },
  );
}

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger');
  addCommand(
    ledger,
    'verify',
    (command) => command.description('exit code 1 when anything is off'),
    async ({ database }, { json }) => {
      const { postings, counts, balances, problems } = await auditLedger(database);
      const sum = [...balances.values()].reduce((total, balance) => total + balance, 0n);
      const ok = problems.length === 0;
      print(json, { ok, postings, ...counts, sum_minor: toWireAmount(sum), problems });
      if (!ok) process.exitCode = 1;
    },
  );
}
