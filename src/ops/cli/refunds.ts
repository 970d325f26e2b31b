import type { Command } from 'commander';
import { resumeRefund } from '../operator-api/refunds.js';
import { addApiCommand } from './command.js';
import { addInstructionCommands, instructionsOf } from './instructions.js';
import { print } from './print.js';

type Options = { reason: string; accountNumber: string; bankCode: string };

/** Adds the commands for refunds: those of every instruction, and the one for the account of a customer. */
export function addRefundCommands(program: Command): void {
  const refunds = program.command('refunds');
  addInstructionCommands(refunds, instructionsOf('refunds'));

  addApiCommand<Options>(
    refunds,
    'resume <refund>',
    (command) =>
      command
        .description('send the customer’s account to a provider that cannot refund to the card')
        .requiredOption('--account-number <digits>', 'the account of the customer, 10 digits')
        .requiredOption('--bank-code <code>', 'its bank, 3 to 6 digits')
        .requiredOption('--reason <text>', 'the reason, for the audit log'),
    async (operator, { json, args, options }) => {
      const id = String(args[0]);
      const { reason, accountNumber: account_number, bankCode: bank_code } = options;
      const input = { params: { id }, body: { reason, account_number, bank_code } };
      print(json, await operator.call(resumeRefund, input, `there is no refund ${id}`));
    },
  );
}
