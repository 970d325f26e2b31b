// Prints the files of src/core and src/capabilities through which `POST /transfers` runs, from the route to its 201, and
// their number: `npm run structure:route`. The API of the build in dist/ runs in this process, and V8 counts the
// functions that run for one request. docs/structure.md says what counts.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);

/** Earlier requests load what later ones find: caches and connections. */
const WARM_UP = 20;
/** A file counts if it runs for each of these requests, because loops of the process run beside them. */
const MEASURED = 5;
const PORT = 18_457;
const BANK_PORT = PORT + 1;
/** The workflow is started beside the response, which does not wait for it. */
const NOT_WAITED_FOR = /workflow-starter|instruction-starter/;

const engines = spawn(process.execPath, [path.join(dist, 'devstack', 'temporary-stack.js')], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const started = await new Promise((resolve, reject) => {
  createInterface({ input: engines.stdout }).once('line', (line) => resolve(JSON.parse(line)));
  engines.once('exit', () => reject(new Error('the engines did not start')));
});
const data = mkdtempSync(path.join(tmpdir(), 'bursar-route-'));
Object.assign(process.env, {
  BURSAR_ENV: 'sandbox',
  BURSAR_LOG_LEVEL: 'silent',
  PORT: String(PORT),
  MONGODB_URI: started.mongodb_uri,
  TEMPORAL_ADDRESS: started.temporal_address,
  BURSAR_KEY_PEPPER: 'a pepper of the figures, which guards nothing',
  BURSAR_SEALING_KEYS: `figures:${Buffer.alloc(32).toString('base64')}`,
  SANDBOX_BANK_URL: `http://127.0.0.1:${BANK_PORT}`,
  SANDBOX_BANK_PORT: String(BANK_PORT),
  SANDBOX_BANK_DATA: data,
  SANDBOX_BANK_SECRET: 'a secret that guards nothing',
});

const bank = spawn(process.execPath, [path.join(dist, 'sandbox-bank', 'main.js')], {
  stdio: ['ignore', 'ignore', 'inherit'],
});

try {
  const key = await newTenant();
  await load('src/main.js');
  for (let i = 0; i < WARM_UP; i += 1) await transfer(key);
  const runs = [];
  for (let i = 0; i < MEASURED; i += 1) runs.push(await filesOf(() => transfer(key)));
  const files = runs[0].filter((file) => runs.every((run) => run.includes(file)));
  for (const file of files) console.log(file);
  console.log(`${files.length} files`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  // The API of this process stops on a signal alone.
  bank.kill();
  rmSync(data, { recursive: true, force: true });
  engines.kill();
  process.exit();
}

/** A tenant with money and a key, as the tests make one. */
async function newTenant() {
  const { loadConfig } = await load('src/shared/config.js');
  const { createDeps } = await load('src/composition/deps.js');
  const { creditWallet } = await load('src/capabilities/wallets/create.js');
  const deps = await createDeps(loadConfig(), 'figures');
  const tenant = await deps.tenants.create({
    name: 'A tenant of the figures',
    plan: 'enterprise',
    ratePerMinute: 1_000_000,
    dailyLimitMinor: 9_000_000_000n,
    features: {},
  });
  const { key } = await deps.apiKeys.create({
    tenantId: tenant.id,
    level: 'admin',
    kind: 'secret',
  });
  const credit = { tenantId: tenant.id, amountMinor: 1_000_000_000n, reference: randomUUID() };
  await creditWallet(deps.groupCommit, credit);
  await deps.close();
  return key;
}

async function transfer(key) {
  const response = await fetch(`http://127.0.0.1:${PORT}/api/v1/transfers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      amount_minor: 150_000,
      recipient_account: '0123456789',
      recipient_bank_code: '058',
      narration: 'Rent for May',
      reference: randomUUID(),
    }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

/** The files of which a function runs while `work` does. */
async function filesOf(work) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
    .map(({ url }) => url.split('/dist/')[1] ?? '')
    .filter((file) => /^src\/(?:core|capabilities)\//.test(file) && !NOT_WAITED_FOR.test(file))
    .map((file) => file.replace(/\.js$/, '.ts'))
    .toSorted();
}
