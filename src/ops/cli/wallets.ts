import type { Command } from 'commander';
import { creditWallet, getWallet } from '../operator-api/wallets.js';
import { addApiCommand, parseAmount } from './command.js';
import { print } from './print.js';

type Credit = { tenant: string; amountMinor: bigint; reference: string; reason?: string };

/** Adds the commands for wallets. */
export function addWalletCommands(program: Command): void {
  const wallets = program.command('wallets');
  addApiCommand<Credit>(
    wallets,
    'credit',
    (command) =>
      command
        .description('credit a wallet from outside, once per reference')
        .requiredOption('--tenant <id>', 'tenant whose wallet is credited')
        .requiredOption('--amount-minor <n>', 'amount in kobo', parseAmount)
        .requiredOption('--reference <text>', 'name of the credit; a repeat credits nothing')
        .option('--reason <text>', 'the reason, for the audit log'),
    async (operator, { json, options: { tenant, amountMinor, reference, reason } }) => {
      const body = {
        amount_minor: Number(amountMinor),
        reference,
        ...(reason !== undefined && { reason }),
      };
      const input = { params: { tenant }, body };
      print(json, await operator.call(creditWallet, input, `there is no tenant ${tenant}`));
    },
  );

  addApiCommand<{ tenant: string }>(
    wallets,
    'show',
    (command) =>
      command
        .description('show the balance of a wallet: its last closing and the later postings')
        .requiredOption('--tenant <id>', 'tenant that the wallet belongs to'),
    async (operator, { json, options: { tenant } }) => {
      const input = { params: { tenant } };
      print(json, await operator.call(getWallet, input, `there is no tenant ${tenant}`));
    },
  );
}
