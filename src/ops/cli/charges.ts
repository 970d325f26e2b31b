import type { Command } from 'commander';
import type { presentChargeDetails } from '../../capabilities/charges/presenter.js';
import { returnPayment } from '../operator-api/charges.js';
import { addApiCommand, parseWhole } from './command.js';
import { addInstructionCommands, instructionsOf } from './instructions.js';
import { CommandError } from './operator-client.js';
import { print } from './print.js';

type SuspendedRows = ReturnType<typeof presentChargeDetails>['suspended'];
type Options = { reason: string; attempt?: number };

/** Adds the commands for charges: those of every instruction, and the two ends of a payment in suspense. */
export function addChargeCommands(program: Command): void {
  const charges = program.command('charges');
  const instructions = instructionsOf('charges');
  addInstructionCommands(charges, instructions);
  const { show, command: commandOf } = instructions.operations;

  addApiCommand<Options>(
    charges,
    'accept <charge>',
    (command) =>
      addOptions(command, 'accept a payment in suspense: the charge completes with what was paid'),
    async (operator, { json, args, options: { reason, attempt } }) => {
      const id = String(args[0]);
      const missing = `there is no charge ${id}`;
      const { record } = await operator.call(show, { params: { id } }, missing);
      const payment = paymentOf(record['suspended'] as SuspendedRows, attempt);
      const input = { params: { id }, body: { reason, ...payment } };
      const answer = await operator.call(commandOf('complete'), input, missing);
      print(json, answer);
      if (!answer.done) process.exitCode = 1;
    },
  );

  addApiCommand<Options>(
    charges,
    'return <charge>',
    (command) =>
      addOptions(
        command,
        'return a payment in suspense to the customer, by a refund of its attempt',
      ),
    async (operator, { json, args, options: { reason, attempt } }) => {
      const id = String(args[0]);
      const body = { reason, ...(attempt !== undefined && { attempt }) };
      const input = { params: { id }, body };
      print(json, await operator.call(returnPayment, input, `there is no charge ${id}`));
    },
  );
}

const addOptions = (command: Command, description: string): Command =>
  command
    .description(description)
    .option('--attempt <number>', 'the attempt that was paid', parseWhole(1, 9_999))
    .requiredOption('--reason <text>', 'the reason, for the audit log');

/** The payment that is meant. Without an attempt there must be one alone that nobody returns. */
function paymentOf(suspended: SuspendedRows, wanted?: number) {
  const undecided = suspended.filter((each) => !each.is_returning);
  const meant = undecided.filter((each) => wanted === undefined || each.attempt === wanted);
  const [first, ...others] = meant;
  if (first === undefined) {
    throw new CommandError(
      'no payment of this attempt is in suspense, or it is being returned already',
    );
  }
  const { attempt, amount_minor } = first;
  if (others.length === 0) return { attempt, amount_minor };
  const attempts = meant.map((each) => each.attempt).join(', ');
  throw new CommandError(
    `payments of several attempts are in suspense: ${attempts}; name one by --attempt`,
  );
}
