import type { Command } from 'commander';
import { acknowledgeDeposit, assignDeposit, returnDeposit } from '../operator-api/deposits.js';
import { addApiCommand, addRecordCommand } from './command.js';
import { addInstructionCommands, instructionsOf } from './instructions.js';
import { print } from './print.js';

/** Adds the commands for deposits: those of every instruction, the decisions about money in suspense, and the end of attention. */
export function addDepositCommands(program: Command): void {
  const deposits = program.command('deposits');
  addInstructionCommands(deposits, instructionsOf('deposits'));

  addApiCommand<{ reason: string; account: string }>(
    deposits,
    'assign <deposit>',
    (command) =>
      command
        .description('credit a suspended deposit to an active virtual account of any tenant')
        .requiredOption('--reason <text>', 'the reason, for the audit log')
        .requiredOption('--account <id>', 'the virtual account'),
    async (operator, { json, args, options: { reason, account } }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: { reason, account } };
      print(json, await operator.call(assignDeposit, input, `there is no deposit ${id}`));
    },
  );

  addRecordCommand(deposits, 'return <deposit>', returnDeposit, {
    description: 'send a suspended deposit back to its sender',
    reason: 'the reason, for the audit log',
  });

  addRecordCommand(deposits, 'acknowledge <deposit>', acknowledgeDeposit, {
    description: 'clear the attention of a deposit that is not in suspense; no money moves',
    reason: 'the reason, for the audit log',
  });
}
