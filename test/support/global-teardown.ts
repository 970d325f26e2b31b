import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Stops shared services, and MongoDB and Temporal of global-setup.ts, and fails the run if one of its logs contains forbidden data. */
async function globalTeardown(): Promise<void> {
  await stopServices();
  await stopEngines();
  const logs = process.env['BURSAR_TEST_LOGS'];
  if (logs === undefined) return;
  const script = join(__dirname, 'log-leaks.mjs');
  const { status } = spawnSync(process.execPath, [script, logs], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the logs are kept until the next run: ${logs}`);
  assertTenantsNamed(join(logs, 'tenant-commands.txt'));
  rmSync(logs, { recursive: true, force: true });
}

/** Fails the run if an API or a worker has sent a command of which no shard is known; see watch-commands.mjs. */
function assertTenantsNamed(file: string): void {
  if (!existsSync(file)) return;
  const found = [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))];
  const problem = 'Commands on data of tenants name neither a tenant nor a reason (acrossTenants):';
  throw new Error([problem, ...found].join('\n'));
}

async function stopServices(): Promise<void> {
  const reaper = globalThis.bursarTestReaper;
  if (reaper === undefined || reaper.exitCode !== null) return;
  await new Promise((resolve) => {
    reaper.once('exit', resolve);
    reaper.stdin?.end();
  });
}

async function stopEngines(): Promise<void> {
  const host = globalThis.bursarTestEngines;
  if (host === undefined || host.exitCode !== null || host.signalCode !== null) return;
  await new Promise((resolve) => {
    host.once('exit', resolve);
    host.kill('SIGTERM');
  });
}

// oxlint-disable-next-line import/no-default-export -- jest calls the default export
export default globalTeardown;
