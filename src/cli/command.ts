import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Deps } from '../deps.js';

/** A command that could not do what it was asked: told in one line, exit code 1. */
export class CommandError extends Error {}

type Context<Options> = { json: boolean; options: Options; args: string[] };

/** Adds a command that takes --json behind its own name, as all do. `run` gets the service connected. */
export function addCommand<Options extends object>(
  parent: Command,
  usage: string,
  configure: (command: Command) => Command,
  run: (deps: Deps, context: Context<Options>) => Promise<void>,
): void {
  addPlainCommand<Options>(parent, usage, configure, async (context) => {
    // Loaded when a command runs: `--help` is answered without MongoDB's and Temporal's clients.
    const [{ createDeps }, { findService }] = await Promise.all([
      import('../deps.js'),
      import('./connect.js'),
    ]);
    const deps = await createDeps(findService(), 'cli');
    try {
      await run(deps, context);
    } finally {
      await deps.close();
    }
  });
}

/** The same for a command that finds what it needs by itself. */
export function addPlainCommand<Options extends object>(
  parent: Command,
  usage: string,
  configure: (command: Command) => Command,
  run: (context: Context<Options>) => Promise<void>,
): void {
  const command = configure(parent.command(usage));
  command.addOption(new Option('--json', 'print JSON, for programs')).action(() =>
    run({
      json: Boolean(command.optsWithGlobals().json),
      options: command.opts(),
      args: command.args,
    }),
  );
}

/** Kobo as typed: digits alone, so that no figure is ever rounded. */
export function parseAmount(text: string): bigint {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) {
    throw new InvalidArgumentError('a whole number of kobo is needed.');
  }
  return BigInt(text);
}

/** A whole number within these bounds. */
export function parseWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`a whole number from ${least} to ${most} is needed.`);
  };
}
