/** `npm start`: starts everything on one machine and prints a request to paste. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { restartOnChange } from './dev.js';
import { loadConfig } from '../src/shared/config.js';
import { compiled } from '../src/shared/package-root.js';
import { startupBanner } from './startup-banner.js';
import { logWarnings } from './log-warnings.js';
import { findEngine } from './find.js';
import { openDataDir, type DevFile, type DataDir, type Secrets } from './data-dir.js';
import { stopOrphans } from './orphans.js';
import { dataDirPath } from './paths.js';
import { readFrom, sizeOf } from './processes.js';
import {
  addresses,
  claimPorts,
  mongodService,
  nodeService,
  serviceEnvironment,
  temporalService,
  workerEnvironment,
  type Ports,
} from './services.js';
import { watchParentProcess } from './parent-process.js';
import { keepRunning, type Service, type Supervised } from './supervise.js';
import { isPolled } from './temporal.js';

/** The tenant that the printed request belongs to, and its keys. */
type Demo = Pick<DevFile, 'tenant' | 'keys' | 'operators'>;

const READY_WITHIN_MS = 60_000;

let isRead = true;
const say = (line: string) => void (isRead && console.log(`bursar: ${line}`));

/** All started services, oldest first; they are stopped in reverse. */
const started: Supervised[] = [];
let dataDir: DataDir | null = null;
let dev: DevFile | null = null;
/** Rebuilds what is changed, in `npm run dev`. */
let watching: { stop: () => Promise<void> } | null = null;
let stopping = false;
let stoppingSince = 0;

function start(service: Service): Supervised {
  if (stopping || dataDir === null) throw new Error('stopping');
  const supervised = keepRunning(service, {
    log: say,
    onSpawn: () => writeDevFile(),
  });
  started.push(supervised);
  return supervised;
}

/** Keeps the pids in dev.json current: people use them to kill processes. */
function writeDevFile(): void {
  if (dev === null || stopping) return;
  for (const { name, pid } of started) {
    const names = name === 'all-in-one' ? ['api', 'worker'] : [name];
    for (const each of names) if (each in dev.pids) dev.pids[each as keyof DevFile['pids']] = pid();
  }
  const content = dev;
  attempt(() => dataDir?.writeDevFile(content));
}

/** Runs optional work: its failure, for example in a removed folder, must not affect the services. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<void> {
  dataDir = await openDataDir(dataDirPath(process.env), say);
  const opened = dataDir;
  opened.removeDevFile();
  for (const name of await stopOrphans(opened))
    say(`stopped ${name}, left by a start that was killed`);

  const binaries = await findEngines();
  const ports = await claimPorts(process.env);
  const secrets = opened.secrets();
  const env = serviceEnvironment(process.env, { ports, secrets, home: opened });
  // Reads the settings before anything starts, so an invalid one is the only message.
  const config = loadConfig(env);

  await startEngines(opened, ports, binaries);
  const services = serviceNames().map((name) => {
    logWarnings(name, opened.log(name), say);
    const own = name === 'worker' ? workerEnvironment(env, ports) : env;
    return start(nodeService(name, opened, own));
  });
  const { address, ...queue } = config.temporal;
  await until('API', () => apiIsReady(`http://127.0.0.1:${ports.api.port}`), services, opened);
  await until('worker', () => isPolled(address, queue), services, opened);

  const demo = await ensureDemo(env, secrets);
  const { tenant, keys, operators } = demo;
  opened.saveSecrets({ ...secrets, demo: { tenant, ...keys, operators } });
  dev = describe(ports, env, demo);
  writeDevFile();
  console.log(
    startupBanner(dev, opened.path, {
      colours: process.stdout.isTTY && !process.env['NO_COLOR'],
      mongod: binaries.mongodVersion,
    }),
  );
  if (process.argv.includes('--dev')) {
    watching = restartOnChange(services, { log: say });
    say('a changed source starts API and worker again');
  }
}

/** API and worker are two processes, or one with `npm start -- --all-in-one`. */
const serviceNames = () =>
  process.argv.includes('--all-in-one')
    ? (['bank', 'all-in-one'] as const)
    : (['bank', 'worker', 'api'] as const);

/** Has the service create the demo tenant, or find the one of an earlier start. devstack imports nothing of its core. */
async function ensureDemo(env: NodeJS.ProcessEnv, { demo }: Secrets): Promise<Demo> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [compiled('src', 'ops', 'demo.js')],
    {
      env: { ...env, BURSAR_LOG_LEVEL: 'error', BURSAR_DEMO: JSON.stringify(demo ?? {}) },
    },
  );
  return JSON.parse(stdout) as Demo;
}

type Engines = { mongod: string | null; mongodVersion: string | null; temporal: string | null };

async function findEngines(): Promise<Engines> {
  const find = async (name: 'mongod' | 'temporal', given: string) => {
    if (process.env[given]) {
      say(`${name}: yours, by ${given}`);
      return null;
    }
    const { binary, version, from } = await findEngine(name, process.env, say);
    say(`${name} ${version} (${from})`);
    return { binary, version };
  };
  const [mongod, temporal] = await Promise.all([
    find('mongod', 'MONGODB_URI'),
    find('temporal', 'TEMPORAL_ADDRESS'),
  ]);
  return {
    mongod: mongod?.binary ?? null,
    mongodVersion: mongod?.version ?? null,
    temporal: temporal?.binary ?? null,
  };
}

async function startEngines(
  opened: DataDir,
  ports: Ports,
  { mongod, temporal }: Engines,
): Promise<void> {
  const engines: Supervised[] = [];
  if (mongod !== null && ports.mongod !== null) {
    engines.push(start(mongodService(mongod, opened, ports.mongod.port)));
  }
  if (temporal !== null && ports.temporal !== null && ports.temporalUi !== null) {
    const { namespace } = addresses(process.env, ports);
    const [port, uiPort] = [ports.temporal.port, ports.temporalUi.port];
    engines.push(start(temporalService(temporal, opened, { port, uiPort, namespace })));
  }
  await Promise.all(engines.map((engine) => engine.ready));
}

/** Waits until the check returns true; fails early if a service cannot stay up. */
async function until(
  what: string,
  check: () => Promise<boolean>,
  services: Supervised[],
  opened: DataDir,
): Promise<void> {
  const offsets = new Map(services.map(({ name }) => [name, sizeOf(opened.log(name))]));
  let last = '';
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(100)) {
    if (stopping) throw new Error('stopping');
    const failed = services.find((service) => service.failures() >= 3);
    if (failed !== undefined) {
      const said = readFrom(opened.log(failed.name), offsets.get(failed.name) ?? 0);
      throw new Error(`The ${failed.name} does not start:\n${tail(said)}`);
    }
    try {
      if (await check()) return;
    } catch (error) {
      last = error instanceof Error ? `: ${error.message}` : '';
    }
  }
  const limit = `${READY_WITHIN_MS / 1000} s`;
  throw new Error(`The ${what} was not ready within ${limit}${last}. Logs: ${opened.path}/logs`);
}

async function apiIsReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(3_000) });
  if (answer.ok) return true;
  throw new Error(`${answer.status} ${(await answer.text()).slice(0, 300)}`);
}

function tail(text: string): string {
  const lines = text.trim().split('\n').slice(-15);
  return lines.map((line) => `  ${line.slice(0, 300)}`).join('\n');
}

function describe(ports: Ports, env: NodeJS.ProcessEnv, demo: Demo): DevFile {
  const api = `http://127.0.0.1:${ports.api.port}`;
  const { mongodbUri, temporalAddress, namespace } = addresses(env, ports);
  return {
    api_url: api,
    docs_url: `${api}/docs`,
    operator_url: `http://127.0.0.1:${ports.operator.port}`,
    temporal_ui_url: ports.temporalUi && `http://127.0.0.1:${ports.temporalUi.port}`,
    temporal_address: temporalAddress,
    temporal_namespace: namespace,
    mongodb_uri: mongodbUri,
    sandbox_bank_url: `http://127.0.0.1:${ports.bank.port}`,
    metrics_url: `http://127.0.0.1:${ports.metrics.port}/metrics`,
    worker_metrics_url: `http://127.0.0.1:${ports.workerMetrics.port}/metrics`,
    tenant: demo.tenant,
    keys: demo.keys,
    operators: demo.operators,
    pids: { api: null, worker: null, bank: null, temporal: null, mongod: null },
  };
}

/** Stops the rebuilding, then dependants first: API, worker, bank, then the engines. */
async function stopEverything(): Promise<void> {
  attempt(() => dataDir?.markStopping());
  attempt(() => dataDir?.removeDevFile());
  await watching?.stop();
  for (const service of started.toReversed()) {
    say(`stopping ${service.name} …`);
    await service.stop();
  }
  attempt(() => dataDir?.release());
}

async function stop(why: string, exitCode: number): Promise<void> {
  if (stopping) {
    // Ctrl-C arrives twice, from the terminal and from npm; a second signal within a second is not a second request.
    if (Date.now() - stoppingSince < 1_000) return;
    say('already stopping; please wait (kill -9 is safe too: the next start cleans up)');
    return;
  }
  stopping = true;
  stoppingSince = Date.now();
  if (why !== '') say(why);
  await stopEverything();
  if (exitCode === 0) say('stopped');
  process.exit(exitCode);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void stop('', 0));
}

// Output has no reader any more, as after a closed terminal or `| head`. Every further line would fail, and reporting
// the failure would fail again.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    isRead = false;
    void stop('', 0);
  });
}

// On any unexpected error an orderly stop is better than services without a supervisor.
process.on('uncaughtException', (error) => {
  console.error(error);
  void stop('', 1);
});
watchParentProcess(process.env, () => void stop('npm is gone', 0));

try {
  await main();
} catch (error) {
  if (!stopping) {
    console.error(`\nbursar: ${error instanceof Error ? error.message : String(error)}\n`);
    await stop('', 1);
  }
}
