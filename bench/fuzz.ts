/**
 * Checks the service against its document: schemathesis generates valid and invalid requests from /openapi.json and
 * checks each answer. `--seed S` selects other requests, `--examples N` more of each operation, `--minutes M` repeats
 * for that long.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connectDatabase } from '../src/platform/database/client.js';
import { cacheFolder } from '../devstack/paths.js';
import { packageRoot } from '../src/shared/package-root.js';
import { isPolled } from '../devstack/temporal.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import { createRichTenant } from './transfers.js';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    examples: { type: 'string' },
    minutes: { type: 'string' },
  },
});
/** Default for each operation: two or three minutes on two cores. */
const EXAMPLES = '25';

const REQUIREMENTS = join(packageRoot, 'test', 'fuzz', 'requirements.txt');

function python(args: string[], what: string, env: NodeJS.ProcessEnv = {}): string {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
  const { status, error, stdout } = spawnSync('python3', args, {
    stdio,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status === 0) return stdout;
  const hint = 'Python 3.11 and pip are needed (Debian, Ubuntu: apt-get install python3-pip)';
  throw new Error(`${what}: ${error?.message ?? `python3 ended with ${status}`}. ${hint}`);
}

/** Installs schemathesis into the user's cache, beside the engines, and never into the system's Python. */
function installed(): string {
  const version = python(['-c', 'import sys; print(sys.implementation.cache_tag)'], 'no Python');
  const hash = createHash('sha256').update(version).update(readFileSync(REQUIREMENTS));
  const cache = cacheFolder(process.env);
  const folder = join(cache, `schemathesis-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  console.error('fetching schemathesis …');
  mkdirSync(cache, { recursive: true });
  const staging = mkdtempSync(join(cache, '.fetching-'));
  try {
    const args = ['install', '--quiet', '--only-binary=:all:', '--target', staging];
    python(['-m', 'pip', ...args, '-r', REQUIREMENTS], 'pip could not fetch schemathesis', {
      // A user's pip settings may conflict with --target.
      PIP_USER: '0',
      PIP_REQUIRE_VIRTUALENV: '0',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_ROOT_USER_ACTION: 'ignore',
      PIP_NO_INPUT: '1',
    });
    renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return folder;
}

/** Starts the service as `npm start` does, with a key of a tenant that no limit stops. */
async function start(stack: Stack): Promise<{ url: string; key: string }> {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const at = { mongodbUri: mongod.uri, temporalAddress: temporal.address, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const url = `http://127.0.0.1:${apiPort}`;
  stack.node('bank', env);
  // All requests come from one address, also those without a key.
  stack.node('api', { ...env, BURSAR_UNAUTHENTICATED_PER_MINUTE: '1000000' });
  stack.node('worker', env);
  const { address, namespace, taskQueue } = config.temporal;
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  await stack.until('worker', () => isPolled(address, { namespace, taskQueue }));
  const database = await connectDatabase(config.mongodb, 'bursar-fuzz');
  const { key } = await createRichTenant(config, database, createGroupCommit(database));
  await database.client.close();
  return { url, key };
}

async function fuzz({ url, key }: { url: string; key: string }, library: string): Promise<number> {
  const { seed, examples, minutes } = options;
  const args = ['-m', 'schemathesis.cli', 'run', `${url}/openapi.json`, '--continue-on-failure'];
  args.push('--header', `Authorization: Bearer ${key}`, '--seed', seed);
  const most = examples ?? (minutes === undefined ? EXAMPLES : undefined);
  if (most !== undefined) args.push('--max-examples', most);
  if (minutes !== undefined) args.push('--max-time', String(Math.ceil(Number(minutes) * 60)));
  const child = spawn('python3', args, {
    // schemathesis.toml is in this folder.
    cwd: packageRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PYTHONPATH: library, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const library = installed();
const stack = await openStack();
try {
  process.exitCode = await fuzz(await start(stack), library);
} finally {
  await stack.stop();
}
