import type { Command } from 'commander';
import { eraseCustomer } from '../operator-api/customers.js';
import { addApiCommand } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print } from './print.js';

type Erase = { tenant: string; customer: string; reason: string; yes?: boolean };

/** Adds the commands for customers. */
export function addCustomerCommands(program: Command): void {
  const customers = program.command('customers');
  addApiCommand<Erase>(
    customers,
    'erase',
    (command) =>
      addYes(command)
        .description(
          'erase the personal data of a customer; the books stay. Refused while anything of the customer is open',
        )
        .requiredOption('--tenant <id>', 'tenant of the customer')
        .requiredOption('--customer <id>', "the tenant's own id of the customer")
        .requiredOption('--reason <text>', 'the reason, for the audit log'),
    async (operator, { json, options: { tenant, customer, reason, yes } }) => {
      await confirm(`Erase the personal data of ${customer} permanently?`, { json, yes });
      const body = { tenant, customer, reason };
      const missing = `there is no customer ${customer} of ${tenant}`;
      print(json, await operator.call(eraseCustomer, { body }, missing));
    },
  );
}
