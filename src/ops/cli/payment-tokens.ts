import type { Command } from 'commander';
import { getPaymentToken, listPaymentTokens } from '../operator-api/payment-tokens.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, flagOf } from './command.js';
import { printLatest } from './print.js';

/** Adds the commands for payment tokens. Their tenants and their providers change them; operators inspect them. */
export function addPaymentTokenCommands(program: Command): void {
  const tokens = program.command('payment-tokens');
  addApiCommand<{ tenant?: string; attention?: boolean }>(
    tokens,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED}`)
        .option('--tenant <tenant>', 'only payment tokens of this tenant')
        .option('--attention', 'only payment tokens that need an operator, oldest first'),
    async (operator, { json, options: { tenant, attention } }) => {
      const query = {
        attention: flagOf(attention),
        ...(tenant !== undefined && { tenant }),
      };
      printLatest(json, await operator.call(listPaymentTokens, { query }), LISTED);
    },
  );

  addRecordCommand(tokens, 'show <payment-token>', getPaymentToken, {
    description: 'show one payment token',
  });
}
