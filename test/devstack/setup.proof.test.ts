import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();

/** An npm and a compiler that do in an instant what theirs take half a minute for, and note it. */
const NPM = `
  const { appendFileSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
  appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n');
  if (process.env.NPM_HANGS) {
    writeFileSync('npm.pid', String(process.pid));
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  }
  if (process.env.NPM_FAILS) { console.error('npm error network'); process.exit(1); }
  rmSync('node_modules', { recursive: true, force: true });
  mkdirSync('node_modules/typescript/bin', { recursive: true });
  writeFileSync('node_modules/typescript/bin/tsc', ${JSON.stringify(`
    const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
    const out = process.argv.at(-1);
    appendFileSync('tsc.log', 'compiled\\n');
    if (process.env.TSC_FAILS) process.exit(2);
    mkdirSync(out + '/worker', { recursive: true });
    mkdirSync(out + '/src/ops/docs', { recursive: true });
    writeFileSync(out + '/src/ops/docs/build.js', '');
    writeFileSync(out + '/worker/bundle.js', 'require("node:fs").writeFileSync(__dirname + "/../bundled", "")');
  `)});`;

function clone(): string {
  const folder = mkdtempSync(join(root, 'clone-'));
  cpSync(join(packageRoot, 'scripts'), join(folder, 'scripts'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.bench.json'];
  for (const name of settings) {
    writeFileSync(join(folder, name), '{}');
  }
  writeFileSync(join(folder, 'src', 'main.ts'), 'one');
  writeFileSync(join(folder, 'package-lock.json'), '{"packages": {"": {}}}');
  writeFileSync(join(folder, 'npm-cli.js'), NPM);
  return folder;
}

async function setUp(folder: string, env: NodeJS.ProcessEnv = {}, args: string[] = []) {
  const child = spawn(process.execPath, [join(folder, 'scripts', 'setup.mjs'), ...args], {
    env: { ...process.env, npm_execpath: join(folder, 'npm-cli.js'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, output };
}

function times(folder: string): { installed: number; compiled: number } {
  const lines = (name: string) =>
    existsSync(join(folder, name))
      ? readFileSync(join(folder, name), 'utf8').trim().split('\n').length
      : 0;
  return { installed: lines('npm.log'), compiled: lines('tsc.log') };
}

test('a fresh clone is installed and built; after that there is nothing to do and nothing to read', async () => {
  const folder = clone();
  expect(await setUp(folder)).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, 'dist', 'bundled'))).toBe(true);
  expect(await setUp(folder)).toEqual({ code: 0, output: '' });
  expect(times(folder)).toEqual({ installed: 1, compiled: 1 });
});

test('a changed source is built again; a changed lock file is also installed again', async () => {
  const folder = clone();
  await setUp(folder);
  writeFileSync(join(folder, 'src', 'main.ts'), 'two');
  await setUp(folder);
  expect(times(folder)).toEqual({ installed: 1, compiled: 2 });
  writeFileSync(
    join(folder, 'package-lock.json'),
    '{"packages": {"": {}, "node_modules/a": {"version": "1.0.0"}}}',
  );
  await setUp(folder);
  expect(times(folder)).toEqual({ installed: 2, compiled: 3 });
});

test('benches have a build of their own, made only on request', async () => {
  const folder = clone();
  await setUp(folder);
  expect(existsSync(join(folder, 'dist-bench'))).toBe(false);
  mkdirSync(join(folder, 'bench'));
  writeFileSync(join(folder, 'bench', 'http.ts'), 'one');
  expect(await setUp(folder)).toEqual({ code: 0, output: '' });
  expect(await setUp(folder, {}, ['--bench'])).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, 'dist-bench'))).toBe(true);
  expect(await setUp(folder, {}, ['--bench'])).toEqual({ code: 0, output: '' });
  expect(times(folder)).toEqual({ installed: 1, compiled: 2 });
});

test('several starts at once set a clone up once', async () => {
  const folder = clone();
  const all = await Promise.all(Array.from({ length: 5 }, () => setUp(folder)));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  expect(times(folder)).toEqual({ installed: 1, compiled: 1 });
});

test('packages that a person installed are used as they are', async () => {
  const folder = clone();
  await setUp(folder);
  const lock = '{"packages": {"": {}, "node_modules/a": {"version": "2.0.0", "integrity": "x"}}}';
  writeFileSync(join(folder, 'package-lock.json'), lock);
  const modules = join(folder, 'node_modules');
  writeFileSync(join(modules, '.package-lock.json'), lock.replace('"": {}, ', ''));
  await setUp(folder);
  expect(times(folder).installed).toBe(1);
});

test('the compiler is installed also where NODE_ENV says production', async () => {
  const folder = clone();
  await setUp(folder, { NODE_ENV: 'production' });
  expect(readFileSync(join(folder, 'npm.log'), 'utf8')).toContain('ci --include=dev');
});

test('an installation that fails says what was tried, and is tried again the next time', async () => {
  const folder = clone();
  const failed = await setUp(folder, { NPM_FAILS: '1' });
  expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('npm error network') });
  expect(failed.output).toMatch(/could not install the packages: `npm ci` in .* ended with 1/);
  expect(await setUp(folder)).toMatchObject({ code: 0 });
});

test('a signal that stops the set-up stops what it runs', async () => {
  const folder = clone();
  const child = spawn(process.execPath, [join(folder, 'scripts', 'setup.mjs')], {
    env: { ...process.env, npm_execpath: join(folder, 'npm-cli.js'), NPM_HANGS: '1' },
    stdio: 'ignore',
  });
  const pidFile = join(folder, 'npm.pid');
  while (!existsSync(pidFile)) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
  expect(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0)).toThrow('ESRCH');
});

test('a build that fails leaves the last good one in place', async () => {
  const folder = clone();
  await setUp(folder);
  writeFileSync(join(folder, 'src', 'main.ts'), 'broken');
  expect(await setUp(folder, { TSC_FAILS: '1' })).toMatchObject({
    code: 1,
    output: expect.stringContaining('the TypeScript compiler ended with 2'),
  });
  expect(existsSync(join(folder, 'dist', 'bundled'))).toBe(true);
  expect(existsSync(join(folder, 'dist-next'))).toBe(false);
});

test('a node_modules folder that is a link is never emptied, as it belongs to another project', async () => {
  const folder = clone();
  const shared = mkdtempSync(join(root, 'shared-'));
  writeFileSync(join(shared, 'kept'), '');
  symlinkSync(shared, join(folder, 'node_modules'));
  const refused = await setUp(folder);
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringContaining('node_modules is a link'),
  });
  expect(existsSync(join(shared, 'kept'))).toBe(true);
  expect(times(folder)).toEqual({ installed: 0, compiled: 0 });
});
