import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

// jest loads this file as CommonJS, which cannot import our modules, so a separate process runs MongoDB and Temporal.
const dist = join(__dirname, '..', '..', 'dist');

declare global {
  var bursarTestEngines: ChildProcess | undefined;
  var bursarTestReaper: ChildProcess | undefined;
}

/**
 * Starts one mongod and one tuned Temporal for the whole run, and sets BURSAR_TEST_MONGODB_URI,
 * BURSAR_TEST_TEMPORAL_ADDRESS and BURSAR_TEST_BUNDLE. If the first two are set already, those are used. Every process
 * of the run logs to BURSAR_TEST_LOGS.
 */
async function globalSetup(): Promise<void> {
  const bundle = join(dist, 'workflow-bundle.js');
  if (!existsSync(bundle)) throw new Error('dist/ is not built: run the tests by npm test');
  process.env['BURSAR_TEST_BUNDLE'] = bundle;
  const logs = newLogFolder();
  process.env['BURSAR_TEST_LOGS'] = logs;
  startServiceReaper();
  if (process.env['BURSAR_TEST_MONGODB_URI'] && process.env['BURSAR_TEST_TEMPORAL_ADDRESS']) return;

  // Temporal keeps all histories of the run in memory: collecting its garbage less often takes fewer processor seconds.
  const host = spawn(process.execPath, [join(dist, 'devstack', 'temporary-stack.js'), logs], {
    env: { GOGC: '400', ...process.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  globalThis.bursarTestEngines = host;
  const engines = await firstLine(host);
  process.env['BURSAR_TEST_MONGODB_URI'] ??= engines.mongodb_uri;
  process.env['BURSAR_TEST_TEMPORAL_ADDRESS'] ??= engines.temporal_address;
}

/** The folder of the shared services, and the process that ends them with this one, however it ends. */
function startServiceReaper(): void {
  const services = mkdtempSync(join(tmpdir(), 'bursar-shared-services-'));
  process.env['BURSAR_TEST_SERVICES'] = services;
  const script = join(__dirname, 'service-reaper.mjs');
  globalThis.bursarTestReaper = spawn(process.execPath, [script, services], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
}

const LOGS_PREFIX = 'bursar-logs-';

/**
 * Creates the log folder of the run. Removes folders of runs that were killed, or that kept their logs because of a
 * leak.
 */
function newLogFolder(): string {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(LOGS_PREFIX))) {
    const pid = Number(name.slice(LOGS_PREFIX.length).split('-')[0]);
    try {
      process.kill(pid, 0);
    } catch (error) {
      const gone = (error as NodeJS.ErrnoException).code === 'ESRCH';
      if (gone) rmSync(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
  return mkdtempSync(join(tmpdir(), `${LOGS_PREFIX}${process.pid}-`));
}

function firstLine(host: ChildProcess): Promise<{ mongodb_uri: string; temporal_address: string }> {
  return new Promise((resolve, reject) => {
    if (host.stdout === null) throw new Error('the engines have no output');
    createInterface({ input: host.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    host.once('error', reject);
    host.once('exit', (code) => reject(new Error(`the engines did not start (exit ${code})`)));
  });
}

// oxlint-disable-next-line import/no-default-export -- jest calls the default export
export default globalSetup;
