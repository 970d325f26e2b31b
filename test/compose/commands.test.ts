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
import { logFileOf, noteSecretsOf } from '../support/logs.js';
import { startReaper } from '../support/processes.js';
import { composeFile, environmentOf, interpolate } from './file.js';

// There is no Docker where the tests run: the very command lines, environments and health checks of
// the file are run by hand, with the names of its network replaced by addresses of this machine.

const file = composeFile();
const folder = mkdtempSync(join(tmpdir(), 'bursar-compose-'));
const running: ChildProcess[] = [];
const reaper = startReaper(folder);
let ports: Record<'api' | 'bank' | 'apiMetrics' | 'workerMetrics', PortClaim>;

beforeAll(async () => {
  ports = {
    api: await claimPort(28_800),
    bank: await claimPort(28_800),
    apiMetrics: await claimPort(28_800),
    workerMetrics: await claimPort(28_800),
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
    SANDBOX_BANK_SECRET: 's'.repeat(64),
  });
  const here = Object.entries(given).map(([variable, value]) => [
    variable,
    value
      .replace(/^mongodb:.*/, mongodbUri)
      .replace('temporal:7233', temporalAddress)
      .replace('//bank:8090', `//127.0.0.1:${ports.bank.port}`)
      .replace('//api:8080', `//127.0.0.1:${ports.api.port}`)
      .replace(/^8080$/, String(ports.api.port))
      // As much notice, but no longer than a test needs to see it.
      .replace(/^5000$/, '2000')
      .replace(/^8090$/, String(ports.bank.port))
      // Containers have a port 9464 each.
      .replace(/^9464$/, String(ports[name === 'api' ? 'apiMetrics' : 'workerMetrics'].port))
      .replace(/^\/var\/lib\/bursar/, folder)
      .replace('0.0.0.0', '127.0.0.1'),
  ]);
  const database = `compose_${process.pid}`;
  // Nothing of ours comes from outside the file, as in a container.
  return {
    PATH: process.env['PATH'],
    BURSAR_DATABASE: database,
    BURSAR_TASK_QUEUE: database,
    ...Object.fromEntries(here),
  };
}

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

/** One run of a service's health check; true if it is content. */
async function isHealthy(name: string): Promise<boolean> {
  const [, program = '', ...args] = file.services[name]?.healthcheck?.test ?? [];
  const words = args.map((word) => interpolate(word, {}));
  const check = spawn(program, words, { env: environment(name), stdio: 'ignore' });
  const [code] = await once(check, 'exit');
  return code === 0;
}

async function becomesHealthy(name: string): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100)) {
    if (await isHealthy(name)) return;
  }
  throw new Error(`${name} did not become healthy`);
}

test('bank, worker and API start by the command lines of the file, and their health checks tell', async () => {
  expect(await isHealthy('bank')).toBe(false);
  start('bank');
  await becomesHealthy('bank');

  expect(await isHealthy('api')).toBe(false);
  const [api, worker] = [start('api'), start('worker')];
  await becomesHealthy('api');
  const { temporalAddress } = sharedEngines();
  const queue = { namespace: 'bursar-sandbox', taskQueue: `compose_${process.pid}` };
  while (!(await isPolled(temporalAddress, queue))) await sleep(100);
  expect({ api: api.exitCode, worker: worker.exitCode }).toEqual({ api: null, worker: null });

  for (const { port } of [ports.apiMetrics, ports.workerMetrics]) {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(await answer.text()).toContain('bursar_queue_waiting{queue="group_commit"} 0');
  }

  const ends = running.map((child) => once(child, 'exit'));
  // An API that was told to stop says so first, and still serves those who have not seen it.
  api.kill('SIGTERM');
  const health = (path: string) => fetch(`http://127.0.0.1:${ports.api.port}/health/${path}`);
  while ((await health('ready')).status !== 503) await sleep(20);
  expect((await health('live')).status).toBe(200);

  // What Docker sends to stop them ends each of them by itself.
  for (const child of running) child.kill('SIGTERM');
  expect(await Promise.all(ends)).toEqual([
    [0, null],
    [0, null],
    [0, null],
  ]);
});
