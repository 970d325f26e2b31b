import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Deps } from '../../composition/deps.js';

/** A command that could not be carried out: printed as one line, with exit code 1. */
export class CommandError extends Error {}

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

/** Adds a command that does not need the connected service. */
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
