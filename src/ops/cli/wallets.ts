import type { Command } from 'commander';
import { readBalance } from '../../core/ledger/balance.js';
import { toWireAmount } from '../../shared/money.js';
import { addCommand, CommandError, parseAmount } from './command.js';
import { print } from './print.js';

type Credit = { tenant: string; amountMinor: bigint; reference: string };

/** Adds the commands for wallets. */
export function addWalletCommands(program: Command): void {
  const wallets = program.command('wallets');
  addCommand<Credit>(
    wallets,
    'credit',
    (command) =>
      command
        .description('credit a wallet from outside, once per reference')
        .requiredOption('--tenant <id>', 'tenant whose wallet is credited')
        .requiredOption('--amount-minor <n>', 'amount in kobo', parseAmount)
        .requiredOption('--reference <text>', 'name of the credit; a repeat credits nothing'),
    async ({ tenants, wallets }, { json, options }) => {
      const { tenant: tenantId, amountMinor, reference } = options;
      if (!(await tenants.get(tenantId))) throw new CommandError(`there is no tenant ${tenantId}`);
      const { availableMinor } = await wallets.credit({
        tenantId,
        amountMinor,
        reference,
      });
      print(json, { available_minor: toWireAmount(availableMinor) });
    },
  );

  addCommand<{ tenant: string }>(
    wallets,
    'show',
    (command) =>
      command
        .description('show the balance of a wallet: its last closing and the later postings')
        .requiredOption('--tenant <id>', 'tenant that the wallet belongs to'),
    async ({ tenants, database }, { json, options: { tenant: tenantId } }) => {
      if (!(await tenants.get(tenantId))) throw new CommandError(`there is no tenant ${tenantId}`);
      const { availableMinor, heldMinor, receivableMinor } = await readBalance(database, tenantId);
      print(json, {
        available_minor: toWireAmount(availableMinor),
        held_minor: toWireAmount(heldMinor),
        receivable_minor: toWireAmount(receivableMinor),
      });
    },
  );
}
