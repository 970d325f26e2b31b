import { createInterface } from 'node:readline/promises';
import { Option, type Command } from 'commander';
import { CommandError } from './command.js';

/** Adds --yes to a command that asks for confirmation. */
export const addYes = (command: Command): Command =>
  command.addOption(new Option('-y, --yes', 'skip the confirmation'));

type Terminal = { input: NodeJS.ReadStream; output: NodeJS.WriteStream };
const terminal: Terminal = { input: process.stdin, output: process.stderr };

/**
 * Asks for confirmation before an irreversible change, if a person sits at a terminal; throws a `CommandError` unless
 * the answer is yes. Programs are not prompted: they pass `--json` or `--yes`, or have no terminal.
 */
export async function confirm(
  question: string,
  { json, yes = false }: { json: boolean; yes?: boolean | undefined },
  { input, output }: Terminal = terminal,
): Promise<void> {
  if (json || yes || !input.isTTY || !output.isTTY) return;
  const prompt = createInterface({ input, output });
  // The end of the input counts as "no".
  const ended = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  const answer = await Promise.race([prompt.question(`${question} [y/N] `), ended]);
  prompt.close();
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new CommandError('nothing was done');
}
