import type { Command } from 'commander';
import { MAX_WAIT_SECONDS } from '../../platform/http/prefer.js';
import { addPlainCommand, parseAmount, parseWhole } from './command.js';
import { print } from './print.js';
import { explain, findApi, type ApiOptions } from './public-api.js';
import { addInstructionCommands, instructionsOf } from './instructions.js';

/** Adds the commands for transfers. */
export function addTransferCommands(program: Command): void {
  const transfers = program.command('transfers');

  addInstructionCommands(transfers, instructionsOf('transfers'));
  addCreateCommand(transfers);
}

type CreateOptions = ApiOptions & {
  to: string;
  bank: string;
  amountMinor: bigint;
  narration: string;
  reference?: string;
  idempotencyKey?: string;
  wait?: number;
};

/**
 * Adds the command that creates a transfer through the public API, as a tenant would. Exit code 1 if the request is
 * refused, or if the transfer has failed when the command ends.
 */
function addCreateCommand(transfers: Command): void {
  addPlainCommand<CreateOptions>(
    transfers,
    'create',
    (command) =>
      command
        .description('create a transfer through the public API')
        .requiredOption('--to <account>', 'account number of the recipient, 10 digits')
        .requiredOption('--bank <code>', 'bank code of the recipient')
        .requiredOption('--amount-minor <n>', 'amount in kobo', parseAmount)
        .requiredOption('--narration <text>', 'purpose of the transfer')
        .option('--reference <text>', 'your own reference, unique for ever')
        .option('--idempotency-key <key>', 'key of an earlier request, to get its response')
        .option(
          '--wait <seconds>',
          `wait for the end of the transfer, ${MAX_WAIT_SECONDS} s at most`,
          parseWhole(0, MAX_WAIT_SECONDS),
        )
        .option('--api <url>', 'address of the API (default: BURSAR_API_URL, then dev.json)'),
    async ({ json, options }) => {
      const { to, bank, amountMinor, narration, reference, idempotencyKey, wait } = options;
      const body = {
        recipient_account: to,
        recipient_bank_code: bank,
        amount_minor: Number(amountMinor),
        narration,
        ...(reference !== undefined && { reference }),
      };
      const call = {
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(wait !== undefined && { wait }),
      };
      const { data } = await findApi(options)
        .createTransfer(body, call)
        .catch((error: unknown) => {
          throw explain(error);
        });
      print(json, data);
      if (data.status === 'failed') process.exitCode = 1;
    },
  );
}
