import type { Command } from 'commander';
import { returnPayment } from '../operator-api/charges.js';
import { addApiCommand, parseWhole } from './command.js';
import { addInstructionCommands, instructionsOf } from './instructions.js';
import { print } from './print.js';

/** Adds the commands for charges: those of every instruction, and the return of a payment in suspense. */
export function addChargeCommands(program: Command): void {
  const charges = program.command('charges');
  addInstructionCommands(charges, instructionsOf('charges'));

  addApiCommand<{ reason: string; attempt?: number }>(
    charges,
    'return <charge>',
    (command) =>
      command
        .description('return a payment in suspense to the customer, by a refund of its attempt')
        .option('--attempt <number>', 'the attempt that was paid', parseWhole(1, 9_999))
        .requiredOption('--reason <text>', 'the reason, for the audit log'),
    async (operator, { json, args, options: { reason, attempt } }) => {
      const id = String(args[0]);
      const body = { reason, ...(attempt !== undefined && { attempt }) };
      const input = { params: { id }, body };
      print(json, await operator.call(returnPayment, input, `there is no charge ${id}`));
    },
  );
}
