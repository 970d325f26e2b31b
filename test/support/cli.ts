import { execFile } from 'node:child_process';
import { compiled } from '../../src/shared/package-root.js';

/** The exit code and the output of a program. */
export type Ran = { code: number; out: string; error: string };

/** A bound against hanging, not a measurement. */
const WITHIN_MS = 60_000;

/** Runs a program to its end with exactly this environment. */
export function run(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ran> {
  const options = { env: { PATH: process.env['PATH'], ...env }, timeout: WITHIN_MS };
  return new Promise((resolve, reject) => {
    execFile(program, [...args], options, (failed, out, error) => {
      const code = failed?.code ?? 0;
      if (typeof code === 'number') resolve({ code, out: out.trim(), error: error.trim() });
      else reject(failed ?? new Error('it did not end'));
    });
  });
}

/** Runs one `bursar` command; its arguments must not contain spaces. */
export const bursar = (line: string, env: Record<string, string>): Promise<Ran> =>
  run(process.execPath, [compiled('src', 'ops', 'cli', 'main.js'), ...line.split(' ')], env);
