import { randomUUID } from 'node:crypto';
import { loadConfig } from '../../src/shared/config.js';
import { createDeps, type Deps } from '../../src/composition/deps.js';
import { createAtSetUp } from '../../src/ops/first-operators.js';
import { serveOperators, type OperatorServer } from '../../src/ops/operator-api/server.js';
import type { OperatorRole } from '../../src/platform/operators/operator.js';

type Environment = Record<string, string>;
type Running = { deps: Deps; server: OperatorServer; signIn: Environment };

/** The operator APIs of this test file, by the environment that they run with. */
const running = new Map<string, Promise<Running>>();

/** Creates an operator with these roles. Returns the account's id and its key. */
export async function createTestOperator(
  deps: Pick<Deps, 'operators' | 'audit'>,
  roles: OperatorRole[] = ['operator', 'admin'],
): Promise<{ id: string; key: string }> {
  const person = { name: `Test ${roles.join(' ')}`, email: `${randomUUID()}@tests.invalid`, roles };
  const made = await createAtSetUp(deps, person, async () => false);
  if (!made) throw new Error('the operator was not created');
  return made;
}

async function start(env: Environment): Promise<Running> {
  const deps = await createDeps(loadConfig({ BURSAR_LOG_LEVEL: 'silent', ...env }), 'test');
  const server = await serveOperators(deps, { host: '127.0.0.1', port: 0 });
  if (!server) throw new Error('the operator API has no port');
  const { key } = await createTestOperator(deps);
  const signIn = {
    BURSAR_OPERATOR_URL: `http://127.0.0.1:${server.port}`,
    BURSAR_OPERATOR_KEY: key,
  };
  return { deps, server, signIn };
}

/** Starts an operator API in this process, once for each environment, and returns the settings that sign in to it. */
export async function operatorSignIn(env: Environment): Promise<Environment> {
  const name = JSON.stringify(env);
  const known = running.get(name) ?? start(env);
  running.set(name, known);
  return (await known).signIn;
}

/** The parts behind the operator API of an environment. */
export async function operatorDeps(env: Environment): Promise<Deps> {
  await operatorSignIn(env);
  return ((await running.get(JSON.stringify(env))) as Running).deps;
}

/** Stops all operator APIs of this test file. */
export async function stopOperatorApis(): Promise<void> {
  const started = [...running.values()];
  running.clear();
  for (const each of started) {
    const api = await each.catch(() => null);
    await api?.server.close();
    await api?.deps.close();
  }
}
