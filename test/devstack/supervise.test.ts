import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logWarnings, warningIn } from '../../devstack/log-warnings.js';
import { launch, type Running } from '../../devstack/processes.js';
import { keepRunning, type Service } from '../../devstack/supervise.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();

function nodeService(name: string, code: string): Service & { spawned: Running[] } {
  const spawned: Running[] = [];
  return {
    name,
    graceMs: 2_000,
    spawned,
    async start(onSpawn) {
      const logFile = join(root, `${name}.log`);
      const child = launch({ command: process.execPath, args: ['-e', code], logFile });
      spawned.push(child);
      onSpawn(child);
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !condition(); await sleep(20)) {
    if (Date.now() > end) throw new Error('it did not happen');
  }
}

const hooks = (said: string[]) => ({ log: (line: string) => said.push(line), onSpawn: () => {} });

test('a service that is killed is restarted every time, and its new pid is reported', async () => {
  const said: string[] = [];
  const service = nodeService('killed', 'setInterval(() => {}, 1000)');
  const supervised = keepRunning(service, hooks(said));
  await supervised.ready;
  for (const times of [1, 2, 3, 4, 5]) {
    process.kill(supervised.pid() ?? 0, 'SIGKILL');
    await until(() => service.spawned.length === times + 1);
  }
  expect(supervised.pid()).toBe(service.spawned.at(-1)?.pid);
  expect(supervised.failures()).toBe(0);
  expect(said).toContain('killed was ended by SIGKILL; starting it again');
  await supervised.stop();
  expect(service.spawned.every((child) => child.hasEnded())).toBe(true);
  expect(service.spawned).toHaveLength(6);
});

test('a service that is restarted has another process, and no restart counts as a failure', async () => {
  const said: string[] = [];
  // Ends by itself when it is asked to, as a service that has only just started would count as failing.
  const service = nodeService(
    'restarted',
    "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000)",
  );
  const supervised = keepRunning(service, hooks(said));
  await supervised.ready;
  for (const times of [1, 2, 3]) {
    const before = supervised.pid();
    await supervised.restart(2_000);
    expect(service.spawned).toHaveLength(times + 1);
    expect(supervised.pid()).not.toBe(before);
  }
  expect(supervised.failures()).toBe(0);
  process.kill(supervised.pid() ?? 0, 'SIGKILL');
  await until(() => service.spawned.length === 5);
  expect(said).toEqual(['restarted was ended by SIGKILL; starting it again']);
  await supervised.stop();
  await supervised.restart(2_000);
  expect(service.spawned).toHaveLength(5);
});

test('a service that keeps ending by itself is counted, so that a start can give up on it', async () => {
  const service = nodeService('broken', "console.log('no such setting'); process.exit(3)");
  const supervised = keepRunning(service, hooks([]));
  await until(() => supervised.failures() >= 3);
  await supervised.stop();
  expect(readFileSync(join(root, 'broken.log'), 'utf8')).toContain('no such setting');
});

test('a service that can not be started at all: three attempts, then the last error', async () => {
  let attempts = 0;
  const service: Service = {
    name: 'impossible',
    graceMs: 0,
    start: async () => {
      attempts += 1;
      throw new Error(`attempt ${attempts}`);
    },
  };
  await expect(keepRunning(service, hooks([])).ready).rejects.toThrow('attempt 3');
});

test('stopping ends a service that is still being started', async () => {
  const service = nodeService('slow', 'setInterval(() => {}, 1000)');
  const supervised = keepRunning(
    {
      ...service,
      async start(onSpawn) {
        await service.start(onSpawn);
        const end = await service.spawned.at(-1)?.ended;
        throw new Error(`slow ${end?.reason}`);
      },
    },
    hooks([]),
  );
  supervised.ready.catch(() => {});
  await until(() => service.spawned.length === 1);
  await supervised.stop();
  expect(service.spawned).toHaveLength(1);
  expect(service.spawned[0]?.hasEnded()).toBe(true);
});

test('a service that ignores SIGTERM is killed after its grace', async () => {
  const code = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('deaf')";
  const service = { ...nodeService('deaf', code), graceMs: 200 };
  const supervised = keepRunning(service, hooks([]));
  await until(() => readSafely('deaf').includes('deaf'));
  await supervised.stop();
  expect(await service.spawned[0]?.ended).toEqual({ reason: 'was ended by SIGKILL', self: false });
});

function readSafely(name: string): string {
  try {
    return readFileSync(join(root, `${name}.log`), 'utf8');
  } catch {
    return '';
  }
}

test.each([
  ['{"level":"info","msg":"all well"}', null],
  ['{"level":"warn","msg":"slow"}', 'slow'],
  ['{"level":50,"msg":"failed","err":{"message":"no connection"}}', 'failed: no connection'],
  ['{"level":"error","err":{"message":"no connection"}}', 'no connection'],
  ['Error: cannot find module', 'Error: cannot find module'],
  ['listening on 8090', null],
  ['{ not json', null],
])('of the log line %s is shown: %s', (line, shown) => {
  expect(warningIn(line)).toBe(shown);
});

test('a flood of warnings is cut short, and what a service wrote last is still shown', async () => {
  const file = join(root, 'flood.log');
  const shown: string[] = [];
  const end = logWarnings('api', file, (line) => shown.push(line));
  appendFileSync(file, '{"level":"warn","msg":"again"}\n'.repeat(500));
  await until(() => shown.length > 0);
  end();
  expect(shown.length).toBeLessThan(20);

  const last: string[] = [];
  const endQuiet = logWarnings('api', file, (line) => last.push(line));
  appendFileSync(file, 'Error: the end\n');
  endQuiet();
  expect(last).toEqual(['api: Error: the end']);
});
