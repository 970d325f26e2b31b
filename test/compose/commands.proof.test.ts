import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/shared/package-root.js';
import { claimPort, type PortClaim } from '../../devstack/ports.js';
import { isPolled } from '../../devstack/temporal.js';
import { sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { logFileOf, noteSecretsOf } from '../support/logs.js';
import { startReaper } from '../support/processes.js';
import { composeFile, environmentOf, interpolate } from './file.js';

// The tests run without Docker. They run the command lines, environments and health checks of the file themselves, with
// the names of its network replaced by addresses of this machine.

const file = composeFile();
const folder = mkdtempSync(join(tmpdir(), 'bursar-compose-'));
const running: ChildProcess[] = [];
const reaper = startReaper(folder);
let ports: Record<
  'api' | 'bank' | 'operator' | 'apiMetrics' | 'workerMetrics' | 'operatorMetrics' | 'sdkMetrics',
  PortClaim
>;

beforeAll(async () => {
  ports = {
    api: await claimPort(28_800),
    bank: await claimPort(28_800),
    operator: await claimPort(28_800),
    operatorMetrics: await claimPort(28_800),
    apiMetrics: await claimPort(28_800),
    workerMetrics: await claimPort(28_800),
    sdkMetrics: await claimPort(28_800),
  };
});

afterAll(async () => {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await reaper.close();
  rmSync(folder, { recursive: true, force: true });
});

function environment(name: string): NodeJS.ProcessEnv {
  const { mongodbUri, temporalAddress } = sharedEngines();
  const service = file.services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  const given = environmentOf(service, {
    BURSAR_KEY_PEPPER: 'p'.repeat(64),
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 's'.repeat(64),
    BURSAR_DATABASE_PASSWORD_SERVICE: 'v'.repeat(64),
    BURSAR_DATABASE_PASSWORD_OPERATOR: 'o'.repeat(64),
    BURSAR_DATABASE_PASSWORD_MIGRATE: 'm'.repeat(64),
  });
  // The engines of the run have no TLS; `npm run test:engines` tries those that have it.
  const plain = Object.entries(given).filter(([variable]) => !variable.startsWith('TEMPORAL_TLS'));
  const local = plain.map(([variable, value]) => [
    variable,
    value
      .replace(/^mongodb:.*/, mongodbUri)
      .replace('temporal:7233', temporalAddress)
      .replace('//bank:8090', `//127.0.0.1:${ports.bank.port}`)
      .replace('//api:8080', `//127.0.0.1:${ports.api.port}`)
      .replace(/^8080$/, String(ports.api.port))
      .replace(/^8081$/, String(ports.operator.port))
      .replace(/^8090$/, String(ports.bank.port))
      // Every container has its own port 9464; here the processes share a machine.
      .replace(/^9464$/, String(ports[metricsOf(name)].port))
      .replace(/^9465$/, String(ports.sdkMetrics.port))
      .replace(/^\/var\/lib\/bursar/, folder)
      .replace('0.0.0.0', '127.0.0.1'),
  ]);
  const database = `compose_${process.pid}`;
  // As in a container, no setting comes from outside the file.
  return {
    PATH: process.env['PATH'],
    BURSAR_DATABASE: database,
    BURSAR_TASK_QUEUE: database,
    // The operator API needs none of the public API's, and here both share a machine.
    ...(name === 'operator' && { PORT: '0' }),
    ...Object.fromEntries(local),
  };
}

const metricsOf = (name: string) =>
  name === 'api' ? 'apiMetrics' : name === 'operator' ? 'operatorMetrics' : 'workerMetrics';

function start(name: string): ChildProcess {
  const [program = '', ...args] = file.services[name]?.command ?? [];
  const env = environment(name);
  noteSecretsOf(env);
  const log = openSync(logFileOf('compose', name), 'a');
  const child = spawn(program, args, { cwd: packageRoot, env, stdio: ['ignore', log, log] });
  closeSync(log);
  reaper.started(child);
  running.push(child);
  return child;
}

/** Runs the health check of a service once; true if it succeeds. */
async function isHealthy(name: string): Promise<boolean> {
  const [, program = '', ...args] = file.services[name]?.healthcheck?.test ?? [];
  const parts = args.map((word) => interpolate(word, {}));
  const check = spawn(program, parts, { env: environment(name), stdio: 'ignore' });
  const [code] = await once(check, 'exit');
  return code === 0;
}

async function becomesHealthy(name: string): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100)) {
    if (await isHealthy(name)) return;
  }
  throw new Error(`${name} did not become healthy`);
}

test('bank, worker, API and operator API start with the command lines of docker-compose.yml, and their health checks report their state', async () => {
  const migration = start('database-migrate');
  expect(await once(migration, 'exit')).toEqual([0, null]);

  expect(await isHealthy('bank')).toBe(false);
  start('bank');
  await becomesHealthy('bank');

  expect(await isHealthy('api')).toBe(false);
  const [api, worker] = [start('api'), start('worker'), start('operator')] as const;
  await becomesHealthy('api');
  await becomesHealthy('operator');
  const { temporalAddress } = sharedEngines();
  const queue = { namespace: 'bursar-sandbox', taskQueue: `compose_${process.pid}` };
  while (!(await isPolled(temporalAddress, queue))) await sleep(100);
  expect({ api: api.exitCode, worker: worker.exitCode }).toEqual({ api: null, worker: null });

  for (const { port } of [ports.apiMetrics, ports.workerMetrics]) {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(await answer.text()).toContain('bursar_queue_waiting{queue="group_commit"} 0');
  }
  await eventually('the worker serves the metrics of the SDK', async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.sdkMetrics.port}/metrics`);
    return (await answer.text()).includes('temporal_worker_task_slots_available') || undefined;
  });

  const alive = running.filter(({ exitCode }) => exitCode === null);
  const ends = alive.map((child) => once(child, 'exit'));
  // A stopping API first reports "not ready", and still serves requests.
  api.kill('SIGTERM');
  const health = (path: string) => fetch(`http://127.0.0.1:${ports.api.port}/health/${path}`);
  while ((await health('ready')).status !== 503) await sleep(20);
  expect((await health('live')).status).toBe(200);

  // Each of them ends on SIGTERM, which Docker sends.
  for (const child of alive) child.kill('SIGTERM');
  expect(await Promise.all(ends)).toEqual([
    [0, null],
    [0, null],
    [0, null],
    [0, null],
  ]);
});
