import type { Command } from 'commander';
import { listAttention } from '../operator-api/attention.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand } from './command.js';
import { printLatest } from './print.js';

/** Adds the command that lists the records of all kinds that wait for an operator. */
export function addAttentionCommand(program: Command): void {
  addApiCommand(
    program,
    'attention',
    (command) => command,
    async (operator, { json }) => {
      printLatest(json, await operator.call(listAttention, {}), LISTED);
    },
  );
}
