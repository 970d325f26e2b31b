import { createInterface } from 'node:readline/promises';
import { Option, type Command } from 'commander';
import { CommandError } from './command.js';

/** For a command that asks before it acts. */
export const addYes = (command: Command): Command =>
  command.addOption(new Option('-y, --yes', 'act without asking'));

type Terminal = { input: NodeJS.ReadStream; output: NodeJS.WriteStream };
const terminal: Terminal = { input: process.stdin, output: process.stderr };

/**
 * Asks before what can't be taken back, where a person sits at a terminal. Programs are not asked: they say `--json` or
 * `--yes`, or have no terminal.
 */
export async function confirm(
  question: string,
  { json, yes = false }: { json: boolean; yes?: boolean | undefined },
  { input, output }: Terminal = terminal,
): Promise<void> {
  if (json || yes || !input.isTTY || !output.isTTY) return;
  const asked = createInterface({ input, output });
  // The end of the input is no answer, and so a no.
  const ended = new Promise<string>((resolve) => asked.once('close', () => resolve('')));
  const answer = await Promise.race([asked.question(`${question} [y/N] `), ended]);
  asked.close();
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new CommandError('nothing was done');
}
