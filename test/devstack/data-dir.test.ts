import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openDataDir, type DevFile } from '../../devstack/data-dir.js';
import { dataDirMark, stopOrphans } from '../../devstack/orphans.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from './support.js';

const root = realpathSync(temporaryFolder());
const quiet = () => {};
const children: ChildProcess[] = [];

afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

/** A process with these arguments on its command line, which optionally ignores SIGTERM. */
async function idle(words: string[], { stubborn = false } = {}): Promise<ChildProcess> {
  const code = `${stubborn ? "process.on('SIGTERM', () => {});" : ''}
    console.log('up'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', code, '--', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

/** A process that opens the home with the compiled code and stays. */
async function supervisorOf(folder: string, extra = ''): Promise<ChildProcess> {
  const module = JSON.stringify(join(packageRoot, 'dist', 'devstack', 'data-dir.js'));
  const code = `import { openDataDir } from ${module};
    const home = await openDataDir(${JSON.stringify(folder)}, () => {});
    ${extra}
    console.log('up'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

test('a home has one running supervisor, and a second start names it and says what to do', async () => {
  const folder = join(root, 'one');
  const first = await supervisorOf(folder);
  const second = openDataDir(folder, quiet);
  await expect(second).rejects.toThrow(`already running from ${folder} (process ${first.pid})`);
  await expect(second).rejects.toThrow(/BURSAR_HOME=/);
  expect(hasEnded(first)).toBe(false);
});

test('the home of a supervisor that was killed opens, with the same secrets', async () => {
  const folder = join(root, 'killed');
  const first = await supervisorOf(folder, 'home.secrets();');
  const before = readFileSync(join(folder, 'secrets.json'), 'utf8');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const home = await openDataDir(folder, quiet);
  expect(home.secrets()).toEqual(JSON.parse(before));
  home.release();
});

test('a start waits for a supervisor that is stopping', async () => {
  const folder = join(root, 'stopping');
  const first = await supervisorOf(folder, 'home.markStopping();');
  const said: string[] = [];
  const opening = openDataDir(folder, (line) => said.push(line));
  await eventually('it says that it waits', () => (said.length > 0 ? true : undefined));
  expect(said).toEqual([expect.stringContaining(`process ${first.pid} is still stopping`)]);
  first.kill('SIGKILL');
  (await opening).release();
});

test('secrets and dev.json are for their owner alone, and are never readable half-written', async () => {
  const home = await openDataDir(join(root, 'files'), quiet);
  const secrets = home.secrets();
  expect(secrets.key_pepper.length).toBeGreaterThanOrEqual(32);
  expect(secrets.bank_secret).not.toBe(secrets.key_pepper);
  home.writeDevFile({ api_url: 'http://127.0.0.1:1' } as DevFile);
  for (const name of ['secrets.json', 'dev.json']) {
    const file = join(home.path, name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.next`)).toBe(false);
  }
  expect(statSync(home.path).mode & 0o777).toBe(0o700);
  home.release();
});

test('a folder of an earlier version gets a sealing key, and keeps its other secrets', async () => {
  const folder = join(root, 'earlier');
  mkdirSync(folder);
  const earlier = { layout: 1, key_pepper: 'p', bank_secret: 'b', demo: null };
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify(earlier));
  const home = await openDataDir(folder, quiet);
  const secrets = home.secrets();
  expect(secrets).toMatchObject(earlier);
  expect(secrets.sealing_keys).toMatch(/^dev:[A-Za-z0-9+/]{43}=$/);
  expect(home.secrets()).toEqual(secrets);
  home.release();
});

test('a damaged secrets file is an error that does not quote it', async () => {
  const folder = join(root, 'damaged');
  mkdirSync(folder);
  writeFileSync(join(folder, 'secrets.json'), '{"key_pepper": "hush');
  const home = await openDataDir(folder, quiet);
  expect(() => home.secrets()).toThrow(/secrets\.json is not readable/);
  expect(() => home.secrets()).not.toThrow(/hush/);
  home.release();
});

test.each([
  ['no layout', {}],
  ['another layout', { layout: 0 }],
])(
  'a folder with %s is refused, with a message that names the folder to delete',
  async (_, layout) => {
    const folder = join(root, `layout-${JSON.stringify(layout).length}`);
    mkdirSync(folder);
    const secrets = { ...layout, key_pepper: 'p', bank_secret: 'b', demo: null };
    writeFileSync(join(folder, 'secrets.json'), JSON.stringify(secrets));
    const home = await openDataDir(folder, quiet);
    expect(() => home.secrets()).toThrow('delete .bursar');
    home.release();
  },
);

test('processes that a killed start left running are stopped, even if they ignore SIGTERM, and no others', async () => {
  const home = await openDataDir(join(root, 'orphans'), quiet);
  const ours = [
    await idle([dataDirMark(home)]),
    await idle(['--dbpath', home.mongodData, '--port', '1']),
    await idle(['--db-filename', home.temporalFile]),
  ];
  const others = [
    // A home whose name goes on, and a process that only mentions ours.
    await idle([dataDirMark({ path: `${home.path}2` })]),
    await idle(['--dbpath', `${home.mongodData}-copy`]),
    await idle(['--backup-of', home.mongodData]),
  ];
  const stopped = await stopOrphans(home);
  expect(stopped).toHaveLength(3);
  // Exits are reported in a later turn of the event loop, so the test waits for each of them.
  await Promise.all(ours.map(async (child) => hasEnded(child) || (await once(child, 'exit'))));
  expect(ours.map(hasEnded)).toEqual([true, true, true]);
  expect(others.map(hasEnded)).toEqual([false, false, false]);
  expect(await stopOrphans(home)).toEqual([]);
  home.release();
});
