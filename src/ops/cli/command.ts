import { InvalidArgumentError, Option, type Command } from 'commander';
import type { z } from 'zod';
import type { Deps } from '../../composition/deps.js';
import type { Operation } from '../../platform/http/operation.js';
import { CommandError, findOperatorApi, SIGN_INS, type OperatorClient } from './operator-client.js';
import { print, type Printable } from './print.js';

export { CommandError };

type Context<Options> = { json: boolean; options: Options; args: string[] };

/**
 * Adds a command that accepts --json after its own name, as all commands do. `run` gets the connected service, which is
 * closed afterwards.
 */
export function addCommand<Options extends object>(
  parent: Command,
  usage: string,
  configure: (command: Command) => Command,
  run: (deps: Deps, context: Context<Options>) => Promise<void>,
): void {
  addPlainCommand<Options>(parent, usage, configure, async (context) => {
    // Loaded when a command runs: `--help` is answered without MongoDB's and Temporal's clients.
    const [{ createDeps }, { findService }] = await Promise.all([
      import('../../composition/deps.js'),
      import('../../shared/find-service.js'),
    ]);
    const deps = await createDeps(findService(), 'cli');
    try {
      await run(deps, context);
    } finally {
      await deps.close();
    }
  });
}

/**
 * Adds a command that talks to the operator API. The actor is who has signed in: by the key in the environment, or beside
 * `npm start` by a key of dev.json, which --as chooses.
 */
export function addApiCommand<Options extends object>(
  parent: Command,
  usage: string,
  configure: (command: Command) => Command,
  run: (operator: OperatorClient, context: Context<Options>) => Promise<void>,
): void {
  addPlainCommand<Options & { as?: (typeof SIGN_INS)[number] }>(
    parent,
    usage,
    (command) =>
      configure(command).addOption(
        new Option('--as <person>', 'sign in beside npm start as this person').choices(SIGN_INS),
      ),
    (context) => run(findOperatorApi(context.options.as), context),
  );
}

type RecordOperation = Operation & {
  params: { id: z.ZodType };
  answer: { data: z.ZodType<Printable> };
};

/**
 * Adds a command that makes one request about a record, and prints the answer. The name of the record is that of the argument in
 * `usage`. With `reason`, the command requires the reason of the act.
 */
export function addRecordCommand(
  parent: Command,
  usage: `${string} <${string}>`,
  operation: RecordOperation,
  { description, reason }: { description: string; reason?: string },
): void {
  const record = usage.replace(/^.*<(.*)>$/, '$1').replaceAll('-', ' ');
  addApiCommand<{ reason?: string }>(
    parent,
    usage,
    (command) => {
      command.description(description);
      return reason === undefined ? command : command.requiredOption('--reason <text>', reason);
    },
    async (operator, { json, args, options }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: { reason: options.reason } };
      print(json, await operator.call(operation, input, `there is no ${record} ${id}`));
    },
  );
}

/** Adds a command that needs neither the operator API nor the database. */
export function addPlainCommand<Options extends object>(
  parent: Command,
  usage: string,
  configure: (command: Command) => Command,
  run: (context: Context<Options>) => Promise<void>,
): void {
  const command = configure(parent.command(usage));
  command.addOption(new Option('--json', 'print JSON')).action(() =>
    run({
      json: Boolean(command.optsWithGlobals().json),
      options: command.opts(),
      args: command.args,
    }),
  );
}

/** A flag of the command line as a query has it. */
export const flagOf = (given: boolean | undefined) =>
  given ? ('true' as const) : ('false' as const);

/** Parses an amount in kobo. Only digits are accepted, so that no amount is ever rounded. */
export function parseAmount(text: string): bigint {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) {
    throw new InvalidArgumentError('must be a whole number of kobo.');
  }
  return BigInt(text);
}

/** Creates a parser for a whole number within these bounds. */
export function parseWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };
}
