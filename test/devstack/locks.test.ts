import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { identityOf, isRunning, tryLock } from '../../devstack/lock.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { claimPort } from '../../devstack/ports.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();

/** Runs a module in a process of its own. `ended` resolves with what it printed, `printed` as soon as it has printed something. */
function inProcess(code: string) {
  const lib = JSON.stringify(join(packageRoot, 'scripts', 'lock.mjs'));
  const ports = JSON.stringify(join(packageRoot, 'dist', 'devstack', 'ports.js'));
  const source = `import { tryLock } from ${lib}; import { claimPort } from ${ports};\n${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  const ended = once(child, 'close').then(() => out.trim());
  const printed = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      resolve();
    });
    void ended.then(() => resolve());
  });
  return { ended, printed, release: () => child.stdin.end() };
}

/** Runs a module in several processes, each of which keeps what it holds until all have printed. Returns what they printed. */
async function together(count: number, code: string): Promise<string[]> {
  const untilReleased = `${code}\nprocess.stdin.resume();`;
  const all = Array.from({ length: count }, () => inProcess(untilReleased));
  await Promise.all(all.map(({ printed }) => printed));
  for (const { release } of all) release();
  return Promise.all(all.map(({ ended }) => ended));
}

test('a lock has one holder, who is named, and is free again when it is released', () => {
  const file = join(root, 'one.lock');
  const first = tryLock(file);
  expect(tryLock(file).holder).toMatchObject({ pid: process.pid });
  first.release?.();
  expect(existsSync(file)).toBe(false);
  expect(tryLock(file).release).toBeDefined();
});

test('the lock of a process that was killed is taken over by exactly one of many', async () => {
  const file = join(root, 'dead.lock');
  const taken = `tryLock(${JSON.stringify(file)}); process.kill(process.pid, 'SIGKILL');`;
  await inProcess(taken).ended;
  expect(existsSync(file)).toBe(true);

  // The holder keeps the lock until all have tried, so that a second holder would be detected.
  const attempt = `const lock = tryLock(${JSON.stringify(file)});
    console.log(lock.release ? 'got it' : 'taken');`;
  const all = await together(6, attempt);
  expect(all.filter((said) => said === 'got it')).toHaveLength(1);
});

test('a lock whose process id belongs to another process by now holds nothing', () => {
  const file = join(root, 'reused.lock');
  writeFileSync(file, JSON.stringify({ pid: process.ppid, started: 'at another time' }));
  expect(tryLock(file).release).toBeDefined();
});

test('a process is distinguished from a later one with the same id', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  expect(identityOf(pid)).toBeNull();
  const self = identityOf(process.pid);
  expect(self !== null && isRunning(self)).toBe(true);
  expect(isRunning({ pid: process.pid, started: 'at another time' })).toBe(false);
});

test('two claims at the same moment get different ports, also from two processes', async () => {
  const here = async () => String((await claimPort(45_000)).port);
  const [there, ...others] = await Promise.all([
    together(3, 'console.log((await claimPort(45000)).port);'),
    here(),
    here(),
  ]);
  const ports = [...there, ...others];
  expect(new Set(ports).size).toBe(ports.length);
});

test('a port in use is skipped, and is an error if it is requested explicitly', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  const claim = await claimPort(taken);
  expect(claim.port).toBeGreaterThan(taken);
  await expect(claimPort(taken, { exact: true })).rejects.toThrow(`Port ${taken} is taken`);
  claim.release();
  server.close();
});
