/**
 * Checks the service against its document: schemathesis generates valid and invalid requests from /openapi.json and
 * checks each answer. `--seed S` selects other requests, `--examples N` more of each operation, `--minutes M` repeats
 * for that long, and `--fixed` adds a shorter series whose requests never change. At the end it checks itself: a document
 * that is wrong in two places must be found wrong in both.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
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
    fixed: { type: 'boolean', default: false },
  },
});
/** Default for each operation: two or three minutes on two cores. */
const EXAMPLES = '25';
/** The series of `--fixed`. The other phases of schemathesis make much the same requests with every seed. */
const FIXED = { seed: '1123', examples: '8', phases: 'fuzzing,stateful' };

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

type Target = { url: string; key: string };

/** Starts the service as `npm start` does, with a key of a tenant that no limit stops. */
async function start(stack: Stack): Promise<Target> {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const at = { mongodbUri: mongod.uri, temporalAddress: temporal.address, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const url = `http://127.0.0.1:${apiPort}`;
  stack.node('bank', env);
  stack.node('api', {
    ...env,
    // All requests come from one address, also those without a key.
    BURSAR_UNAUTHENTICATED_PER_MINUTE: '1000000',
    // A machine that is slow for a moment makes no name enquiry fail. One that is never answered still does.
    BURSAR_NAME_ENQUIRY_TIMEOUT_MS: '5000',
  });
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

type Series = {
  seed: string;
  examples?: string | undefined;
  minutes?: string | undefined;
  phases?: string;
};

async function fuzz(
  { url, key }: Target,
  library: string,
  { seed, examples, minutes, phases }: Series,
): Promise<number> {
  const args = [`${url}/openapi.json`, '--continue-on-failure', '--seed', seed];
  const most = examples ?? (minutes === undefined ? EXAMPLES : undefined);
  if (most !== undefined) args.push('--max-examples', most);
  if (phases !== undefined) args.push('--phases', phases);
  if (minutes !== undefined) args.push('--max-time', String(Math.ceil(Number(minutes) * 60)));
  const { code } = await schemathesis(args, { key, library, shown: true });
  return code;
}

async function schemathesis(
  args: string[],
  { key, library, shown }: { key: string; library: string; shown: boolean },
): Promise<{ code: number; output: string }> {
  const header = ['--header', `Authorization: Bearer ${key}`];
  const child = spawn('python3', ['-m', 'schemathesis.cli', 'run', ...args, ...header], {
    // schemathesis.toml is in this folder.
    cwd: packageRoot,
    stdio: ['ignore', shown ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH: library, PYTHONDONTWRITEBYTECODE: '1' },
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? 1, output };
}

/** Two operations, each with one field that does not fit the service, and the code of the failure that it must cause. */
const PLANTED = [
  {
    operation: 'resolveAccount',
    schema: 'AccountToResolveToRecipient',
    // Too wide: the service refuses other texts than codes.
    field: { recipient_bank_code: { type: 'string' } },
    code: 'ST202',
  },
  {
    operation: 'createCard',
    schema: 'NewCard',
    // Too narrow: the service accepts a hundred characters.
    field: { name: { type: 'string', pattern: '^[A-Za-z]+$', minLength: 1, maxLength: 3 } },
    code: 'ST201',
  },
];

type Operation = { operationId?: string; parameters?: { name?: string; $ref?: string }[] };

type ApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, object> }> };
};

/**
 * Puts the mismatches into a document. An operation loses its idempotency keys: a repeat of the example's key is refused for the key,
 * whatever its body is.
 */
function plant({ paths, components }: ApiDocument): void {
  for (const { operation, schema: name, field } of PLANTED) {
    const schema = components.schemas[name];
    if (!schema) throw new Error(`no schema ${name} to plant a mismatch in`);
    const { idempotency_key: _, ...properties } = schema.properties;
    schema.properties = { ...properties, ...field };
    const found = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .find(({ operationId }) => operationId === operation);
    if (!found) throw new Error(`no operation ${operation} to plant a mismatch in`);
    const isKey = (each: object) => JSON.stringify(each).includes('Idempotency');
    found.parameters = (found.parameters ?? []).filter((each) => !isKey(each));
  }
}

/** Runs against a document with the planted mismatches. Fails if one of them is not found. */
async function findsPlanted({ url, key }: Target, library: string): Promise<number> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
  plant(document);
  const folder = mkdtempSync(join(tmpdir(), 'bursar-planted-'));
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const { seed } = options;
  const args = [file, '--url', url, '--seed', seed, '--continue-on-failure'];
  args.push('--max-examples', EXAMPLES);
  for (const { operation } of PLANTED) args.push('--include-operation-id', operation);
  const { code, output } = await schemathesis(args, { key, library, shown: false });
  rmSync(folder, { recursive: true, force: true });
  const missed = PLANTED.map((each) => each.code).filter((each) => !output.includes(each));
  if (code === 1 && missed.length === 0) {
    console.log('both planted mismatches were found');
    return 0;
  }
  console.error(`${output}\nplanted and not found: ${missed.join(', ') || `exit code ${code}`}`);
  return 1;
}

const library = installed();
const stack = await openStack();
try {
  const target = await start(stack);
  const code = await fuzz(target, library, options);
  const again = options.fixed ? await fuzz(target, library, FIXED) : 0;
  process.exitCode = (await findsPlanted(target, library)) || code || again;
} finally {
  await stack.stop();
}
