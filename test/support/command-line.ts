import { format } from 'node:util';
import { CommanderError } from 'commander';
import { newProgram, runProgram } from '../../src/ops/cli/program.js';
import type { Ran } from './cli.js';

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs one command of the command line in this process with exactly this environment, which takes a tenth of the time of a
 * process of its own. One runs at a time, because environment, output and exit code belong to the process.
 */
export function runInProcess(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const ran = last.then(() => runNow(args, env));
  last = ran.catch(() => null);
  return ran;
}

async function runNow(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const texts = { out: '', error: '' };
  const write = (name: keyof typeof texts) => (text: string) => void (texts[name] += text);
  const line =
    (name: keyof typeof texts) =>
    (...values: unknown[]) =>
      write(name)(`${format(...values)}\n`);
  const restore = replaceGlobals(env, { log: line('out'), error: line('error') });
  let code = 0;
  try {
    const program = newProgram()
      .exitOverride()
      .configureOutput({ writeOut: write('out'), writeErr: write('error') });
    await runProgram(program, args);
    code = Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode;
  } finally {
    restore();
  }
  return { code, out: texts.out.trim(), error: texts.error.trim() };
}

/** Replaces what a process of its own would have of its own. Returns a function that restores it. */
function replaceGlobals(
  env: Record<string, string>,
  output: Pick<Console, 'log' | 'error'>,
): () => void {
  const { env: ownEnv, exitCode } = process;
  const { log, error } = console;
  const ofThisRun = Object.entries(ownEnv).filter(([name]) => name.startsWith('BURSAR_TEST_'));
  process.env = { ...Object.fromEntries(ofThisRun), ...env };
  process.exitCode = undefined;
  Object.assign(console, output);
  // A command asks for confirmation at a terminal only, and `npm test` may run at one.
  if (process.stdin.isTTY) process.stdin.isTTY = false;
  return () => {
    process.env = ownEnv;
    process.exitCode = exitCode;
    Object.assign(console, { log, error });
  };
}
