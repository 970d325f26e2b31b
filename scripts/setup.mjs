// Makes a clone ready to run: installs packages if node_modules is missing or differs from package-lock.json, then
// compiles the product into dist/ if its sources have changed; with `--bench` also the benches into dist-bench/. Needs
// no packages, prints nothing if nothing is to be done, and takes a lock, so concurrent runs do not collide.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { isSupported, NEEDED } from './node-version.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inRoot = (...parts) => join(root, ...parts);
const modulesStamp = inRoot('node_modules', '.bursar-installed');
const STAMP = '.built-from';
const compiler = inRoot('node_modules', 'typescript', 'bin', 'tsc');

/** The product: `steps` build it into the folder `next`. */
const PRODUCT = {
  folder: 'dist',
  sources: [
    'src',
    'workflows',
    'activities',
    'worker',
    'sandbox-bank',
    'devstack',
    'client/src',
    'docs/guide',
  ],
  settings: ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
  steps: (next) => [
    {
      name: 'the TypeScript compiler',
      args: [compiler, '-p', 'tsconfig.build.json', '--outDir', next],
    },
    { name: 'the workflow bundler', args: [join(next, 'worker', 'bundle.js')] },
    { name: 'the docs page', args: [join(next, 'src', 'ops', 'docs', 'build.js')] },
  ],
};

/** The benches, with a copy of the files that they import. The processes that they start run from dist/. */
const BENCH = {
  folder: 'dist-bench',
  sources: [...PRODUCT.sources, 'bench', 'test/fakes'],
  settings: [...PRODUCT.settings, 'tsconfig.bench.json'],
  steps: (next) => [
    {
      name: 'the TypeScript compiler',
      args: [compiler, '-p', 'tsconfig.bench.json', '--outDir', next],
    },
  ],
};

const builds = process.argv.includes('--bench') ? [PRODUCT, BENCH] : [PRODUCT];

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const say = (line) => console.log(`bursar: ${line}`);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** Prints the message without a stack trace and exits. */
function fail(message) {
  console.error(`\nbursar: ${message}\n`);
  process.exit(1);
}

function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Native packages depend on these. */
const machine = `${process.platform} ${process.arch} ${process.versions.modules}`;

/** The stamp of a node_modules that fits this machine and this lock file. */
function wantedModules() {
  const lock = readOrNull(inRoot('package-lock.json'));
  if (lock === null) fail(`package-lock.json is missing in ${root}: is this a complete clone?`);
  return `${machine}\n${createHash('sha256').update(lock).digest('hex')}\n`;
}

/** True if npm recorded that it installed exactly this lock file: a person ran npm. */
function installedByNpm() {
  const hidden = readOrNull(inRoot('node_modules', '.package-lock.json'));
  if (hidden === null) return false;
  const { packages: installed = {} } = JSON.parse(hidden);
  const { packages: wanted } = JSON.parse(readFileSync(inRoot('package-lock.json'), 'utf8'));
  const same = (path) =>
    installed[path]?.version === wanted[path]?.version &&
    installed[path]?.integrity === wanted[path]?.integrity;
  return (
    Object.keys(installed).every(same) &&
    Object.entries(wanted).every(([path, entry]) => path === '' || entry.optional || same(path))
  );
}

function modulesAreFresh() {
  const wanted = wantedModules();
  const stamp = readOrNull(modulesStamp);
  if (stamp === wanted) return true;
  const otherMachine = stamp !== null && !stamp.startsWith(`${machine}\n`);
  if (otherMachine || !installedByNpm()) return false;
  writeFileSync(modulesStamp, wanted);
  return true;
}

/**
 * Runs a program with its output shown; returns its exit code, or the reason why it has none. A stop signal is passed on
 * to the program, and ends this process after it.
 */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  let stoppedBy = null;
  const stop = (signal) => {
    stoppedBy = signal;
    child.kill(signal);
  };
  for (const signal of STOPPING) process.on(signal, stop);
  const result = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `was stopped by ${signal}` : code));
  });
  for (const signal of STOPPING) process.off(signal, stop);
  if (stoppedBy !== null) process.kill(process.pid, stoppedBy);
  return result;
}

async function install() {
  const started = Date.now();
  if (lstatSync(inRoot('node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    // npm ci empties the folder first; through a link it would empty another clone's.
    fail(
      `node_modules is a link to ${realpathOf(inRoot('node_modules'))}, which does not match this\n` +
        `package-lock.json. Installing would empty that folder: update it where it belongs, or remove\n` +
        `the link (rm node_modules) and run this again.`,
    );
  }
  say(`installing packages (npm ci, about half a minute) …`);
  // Under `npm start`, npm sets npm_execpath, so this works if PATH has no npm.
  const npm = process.env.npm_execpath?.endsWith('.js')
    ? [process.execPath, process.env.npm_execpath]
    : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  // Without --include=dev, npm omits the compiler under NODE_ENV=production.
  const args = [
    ...npm.slice(1),
    'ci',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const result = await run(npm[0], args);
  if (result !== 0) {
    fail(
      `could not install the packages: \`npm ci\` in ${root} ended with ${result}.\n` +
        `Its output is above. Usual causes: no way to the npm registry from here (npm ping),\n` +
        `no free space (df -h .), or node_modules owned by another user. Then run this again.`,
    );
  }
  writeFileSync(modulesStamp, wantedModules());
  say(`packages installed in ${seconds(started)}`);
}

function realpathOf(path) {
  try {
    return realpathSync(path);
  } catch {
    return 'a folder that does not exist';
  }
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const byName = (a, b) => (a < b ? -1 : 1);

function hashOf({ sources, settings }) {
  const hash = createHash('sha256');
  const files = sources.flatMap((folder) => filesUnder(inRoot(folder)));
  for (const file of [...files.sort(byName), ...settings.map((name) => inRoot(name))]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

const isFresh = (target) => readOrNull(inRoot(target.folder, STAMP)) === hashOf(target);
const buildsAreFresh = () => builds.every(isFresh);

/**
 * Builds into a folder beside the old build and then swaps the two, so that a process that runs from the old build never
 * loads a mixture.
 */
async function build(target) {
  const started = Date.now();
  const hash = hashOf(target);
  const [current, next, old] = ['', '-next', '-old'].map((end) => inRoot(`${target.folder}${end}`));
  // A killed build leaves these behind. This process holds the lock, so no other build uses them.
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true });
  say(`building ${target.folder} …`);
  for (const { name, args } of target.steps(next)) {
    const result = await run(process.execPath, args);
    if (result !== 0) {
      rmSync(next, { recursive: true, force: true });
      fail(`the build failed: ${name} ended with ${result} (its output is above).`);
    }
  }
  if (target === PRODUCT) makeCommandsExecutable(next);
  writeFileSync(join(next, STAMP), hash);
  if (existsSync(current)) renameSync(current, old);
  renameSync(next, current);
  rmSync(old, { recursive: true, force: true });
  say(`built in ${seconds(started)}`);
}

/** `npm link` puts a link to the command on the PATH, and its target must stay executable after each build. */
function makeCommandsExecutable(folder) {
  const { bin = {} } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  for (const file of Object.values(bin)) chmodSync(join(folder, relative('dist', file)), 0o755);
}

async function main() {
  if (!isSupported(process.versions.node)) {
    fail(`${NEEDED}; this is ${process.version} (${process.execPath}).`);
  }
  if (modulesAreFresh() && buildsAreFresh()) return;

  const locks = join(tmpdir(), 'bursar-setup');
  mkdirSync(locks, { recursive: true });
  const lock = join(locks, `${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`);
  const onWait = (pid) => say(`process ${pid} is setting up this clone; waiting for it …`);
  await withLock(lock, onWait, async () => {
    if (!modulesAreFresh()) await install();
    for (const target of builds.filter((each) => !isFresh(each))) await build(target);
  });
}

await main();
