import { InvalidArgumentError, Option, type Command } from 'commander';
import { createDeps, type Deps } from '../deps.js';
import { findService } from './connect.js';

/** A command that could not do what it was asked: told in one line, exit code 1. */
export class CommandError extends Error {}

/** Adds a command that takes --json behind its own name, as all do. `run` gets the service connected. */
export function addCommand<Options extends object>(
  parent: Command,
  usage: string,
  configure: (command: Command) => Command,
  run: (deps: Deps, context: { json: boolean; options: Options; args: string[] }) => Promise<void>,
): void {
  const command = configure(parent.command(usage));
  command.addOption(new Option('--json', 'print JSON, for programs')).action(async () => {
    const deps = await createDeps(findService(), 'cli');
    try {
      const json = Boolean(command.optsWithGlobals().json);
      await run(deps, { json, options: command.opts(), args: command.args });
    } finally {
      await deps.close();
    }
  });
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
