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

/** Runs a module in a process of its own and returns what it printed. */
async function inProcess(code: string): Promise<string> {
  const lib = JSON.stringify(join(packageRoot, 'scripts', 'lock.mjs'));
  const ports = JSON.stringify(join(packageRoot, 'dist', 'devstack', 'ports.js'));
  const source = `import { tryLock } from ${lib}; import { claimPort } from ${ports};\n${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await once(child, 'close');
  return out.trim();
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
  await inProcess(taken);
  expect(existsSync(file)).toBe(true);

  // A holder keeps the lock for a while, so that a second holder would be detected.
  const attempt = `const lock = tryLock(${JSON.stringify(file)});
    console.log(lock.release ? 'got it' : 'taken');
    if (lock.release) await new Promise((resolve) => setTimeout(resolve, 3000));`;
  const all = await Promise.all(Array.from({ length: 6 }, () => inProcess(attempt)));
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
  const claim = 'console.log((await claimPort(45000)).port);'.concat(
    'await new Promise((resolve) => setTimeout(resolve, 1500));',
  );
  const ports = await Promise.all([
    inProcess(claim),
    inProcess(claim),
    inProcess(claim),
    claimPort(45_000).then(({ port }) => String(port)),
    claimPort(45_000).then(({ port }) => String(port)),
  ]);
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
