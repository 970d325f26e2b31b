import { execFile } from 'node:child_process';
import { runInProcess } from './command-line.js';
import { createTestOperator, operatorDeps, operatorSignIn, stopOperatorApis } from './operators.js';
import { compiled } from '../../src/shared/package-root.js';

/** The exit code and the output of a program. */
export type Ran = { code: number; out: string; error: string };

/** A bound against hanging, not a measurement. */
const WITHIN_MS = 180_000;

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

const program = compiled('src', 'ops', 'cli', 'main.js');

/** Commands that need the database or nothing, not the operator API. */
const WITHOUT_SIGN_IN = new Set(['doctor', 'migrate', 'restored']);

/**
 * Runs one `bursar` command as an operator; its arguments must not contain spaces. The command and the operator API of this
 * environment run in the test's own process.
 */
export async function bursar(line: string, env: Record<string, string>): Promise<Ran> {
  const args = line.split(' ');
  return runInProcess(args, await signedIn(args, env));
}

/** Does the same with the command in a process of its own, as operators run it. */
export async function bursarProcess(line: string, env: Record<string, string>): Promise<Ran> {
  const args = line.split(' ');
  return run(process.execPath, [program, ...args], await signedIn(args, env));
}

async function signedIn(
  [command = '']: readonly string[],
  env: Record<string, string>,
): Promise<Record<string, string>> {
  const isSignedIn = 'BURSAR_OPERATOR_URL' in env || WITHOUT_SIGN_IN.has(command);
  return isSignedIn ? env : { ...env, ...(await operatorSignIn(env)) };
}

/** Submissions that the workflow makes meanwhile void a request; each of these tries makes a new one. */
const APPROVAL_TRIES = 5;

/** Runs a command that needs an approval, and approves its request as another person. Returns what the approval printed. */
export async function bursarApproved(line: string, env: Record<string, string>): Promise<Ran> {
  const { key } = await createTestOperator(await operatorDeps(env), ['approver']);
  const signIn = { ...(await operatorSignIn(env)), BURSAR_OPERATOR_KEY: key };
  for (let tries = 1; ; tries += 1) {
    const asked = await bursar(`${line} --json`, env);
    const { approval, done } = JSON.parse(asked.out) as { approval?: string; done: boolean };
    if (done || approval === undefined) throw new Error(`no approval was asked for: ${asked.out}`);
    const ran = await bursar(`approvals approve ${approval} --json`, { ...env, ...signIn });
    const isVoid = ran.error.includes('The target has changed since the request');
    if (!isVoid || tries === APPROVAL_TRIES) return ran;
  }
}

afterAll(stopOperatorApis);
