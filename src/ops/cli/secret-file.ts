import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandError } from './command.js';
import { print } from './print.js';

/** The option of commands that make a secret: a terminal keeps what it prints, and a file has an owner. */
export type ToFile = { toFile?: string };

/** Adds the option that writes the new secret to a file. */
export const withFile = (command: Command): Command =>
  command.option(
    '--to-file <path>',
    'write the new secret to this new file, with mode 0600, and print the rest',
  );

/**
 * Makes a secret and prints the record with it, or writes the secret to a file that only its owner may read. The file is created
 * first, so that no secret is made that cannot be kept. A record without the secret, such as one that waits for an approval, is
 * printed as it is.
 */
export async function printSecret(
  { json, toFile }: { json: boolean } & ToFile,
  field: 'key' | 'secret',
  make: () => Promise<object>,
): Promise<void> {
  if (toFile === undefined) return print(json, { ...(await make()) });
  const file = create(toFile);
  let written = false;
  try {
    const { [field]: secret, ...rest } = (await make()) as Record<string, object | string>;
    if (typeof secret === 'string') {
      writeSync(file, `${secret}\n`);
      written = true;
    }
    print(json, { ...rest, ...(written && { written_to: toFile }) });
  } finally {
    closeSync(file);
    if (!written) rmSync(toFile, { force: true });
  }
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(code === 'EEXIST' ? `${path} exists already` : message);
  }
}
