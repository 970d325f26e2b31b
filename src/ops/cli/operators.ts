import { Option, type Command } from 'commander';
import { OPERATOR_ROLES, type OperatorRole } from '../../platform/operators/operator.js';
import {
  createOperator,
  createOperatorKey,
  listOperators,
  revokeOperatorKey,
  updateOperator,
  whoAmI,
} from '../operator-api/operators.js';
import { addApiCommand, addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printTable } from './print.js';
import { printSecret, withFile, type ToFile } from './secret-file.js';

type Create = ToFile & { name: string; email: string; role: OperatorRole[] };

/** Adds the commands for operators. */
export function addOperatorAccountCommands(program: Command): void {
  const operators = program.command('operators');
  addFirst(operators);
  addApiCommand<Create>(
    operators,
    'create',
    (command) =>
      withFile(
        withAccount(command.description('create an operator with a key; it is printed once')),
      ),
    async (client, { json, options: { name, email, role: roles, ...file } }) => {
      await printSecret({ json, ...file }, 'key', async () => {
        const made = await client.call(createOperator, { body: { name, email, roles } });
        return { id: made.id, key: made.key.key, expires_at: made.key.expires_at };
      });
    },
  );
  addApiCommand(
    operators,
    'list',
    (command) => command.description('list all operators'),
    async (client, { json }) => printTable(json, await client.call(listOperators, {})),
  );
  addApiCommand(
    operators,
    'me',
    (command) => command.description('show the operator who has signed in'),
    async (client, { json }) => print(json, await client.call(whoAmI, {})),
  );
  addChanges(operators);
  addKeyCommands(operators);
}

/** The first operator needs the database: nobody can sign in before. */
function addFirst(operators: Command): void {
  addCommand<Omit<Create, 'role'>>(
    operators,
    'first',
    (command) =>
      withFile(command)
        .description(
          'create the first operator, an admin; needs the database, and refuses if there is one',
        )
        .requiredOption('--name <name>', 'name of the person')
        .requiredOption('--email <address>', 'e-mail of the person'),
    async ({ operators: store, audit }, { json, options: { name, email, ...file } }) => {
      const { createFirstOperator } = await import('../first-operators.js');
      await printSecret({ json, ...file }, 'key', async () => {
        const made = await createFirstOperator({ operators: store, audit }, { name, email });
        if (made) return made;
        throw new CommandError('there are operators already: an admin creates further ones');
      });
    },
  );
}

function addChanges(operators: Command): void {
  const change = (name: string, description: string, disabled: boolean) =>
    addApiCommand(
      operators,
      `${name} <operator>`,
      (command) => command.description(description),
      async (client, { json, args }) => {
        const id = String(args[0]);
        const input = { params: { id }, body: { disabled } };
        print(json, await client.call(updateOperator, input, noOperator(id)));
      },
    );
  change('disable', 'refuse every further request of an operator', true);
  change('enable', 'let a disabled operator sign in again', false);
  addApiCommand<{ role: OperatorRole[] }>(
    operators,
    'roles <operator>',
    (command) => command.description('replace the roles of an operator').addOption(roleOption()),
    async (client, { json, args, options: { role: roles } }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: { roles } };
      print(json, await client.call(updateOperator, input, noOperator(id)));
    },
  );
}

function addKeyCommands(operators: Command): void {
  addApiCommand<ToFile>(
    operators,
    'add-key <operator>',
    (command) =>
      withFile(command.description('create a further key, to rotate; it is printed once')),
    async (client, { json, args, options }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: {} };
      await printSecret({ json, ...options }, 'key', () =>
        client.call(createOperatorKey, input, noOperator(id)),
      );
    },
  );
  addApiCommand<{ yes?: boolean }>(
    operators,
    'revoke-key <key>',
    (command) => addYes(command).description('revoke a key of an operator at once'),
    async (client, { json, args, options: { yes } }) => {
      const id = String(args[0]);
      await confirm(`Revoke ${id} permanently?`, { json, yes });
      const input = { params: { id }, body: {} };
      print(json, await client.call(revokeOperatorKey, input, `there is no key ${id}`));
    },
  );
}

const withAccount = (command: Command): Command =>
  command
    .requiredOption('--name <name>', 'name of the person')
    .requiredOption('--email <address>', 'e-mail of the person')
    .addOption(roleOption());

const roleOption = () =>
  new Option('--role <role...>', 'roles of the operator')
    .choices(OPERATOR_ROLES)
    .makeOptionMandatory();

const noOperator = (id: string) => `there is no operator ${id}`;
