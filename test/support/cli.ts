import { execFile } from 'node:child_process';
import { createTestOperator, operatorDeps, operatorSignIn, stopOperatorApis } from './operators.js';
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

const program = compiled('src', 'ops', 'cli', 'main.js');

/** Commands that need the database or nothing, not the operator API. */
const WITHOUT_SIGN_IN = new Set(['doctor', 'migrate']);

/**
 * Runs one `bursar` command as an operator; its arguments must not contain spaces. The operator API of this environment
 * runs in the test's own process.
 */
export async function bursar(line: string, env: Record<string, string>): Promise<Ran> {
  const args = line.split(' ');
  const isSignedIn = 'BURSAR_OPERATOR_URL' in env || WITHOUT_SIGN_IN.has(args[0] ?? '');
  const signIn = isSignedIn ? {} : await operatorSignIn(env);
  return run(process.execPath, [program, ...args], { ...env, ...signIn });
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
