// Makes a clone ready to run: installs packages when node_modules is missing or not what
// package-lock.json says, then compiles into dist/ when the sources have changed. Has no
// dependencies, prints nothing when there is nothing to do, and two at once do not collide.
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
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { isSupported, NEEDED } from './node-version.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inRoot = (...parts) => join(root, ...parts);
const modulesStamp = inRoot('node_modules', '.bursar-installed');
const distStamp = inRoot('dist', '.built-from');
const SOURCES = [
  'src',
  'workflows',
  'activities',
  'worker',
  'sandbox-bank',
  'devstack',
  'bench',
  'client/src',
  'docs/guide',
];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const say = (line) => console.log(`bursar: ${line}`);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** An error whose message is all that a user needs to see. */
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

/** What native packages are chosen for. */
const machine = `${process.platform} ${process.arch} ${process.versions.modules}`;

/** What node_modules has to match: the machine, and the lock file. */
function wantedModules() {
  const lock = readOrNull(inRoot('package-lock.json'));
  if (lock === null) fail(`package-lock.json is missing in ${root}: is this a complete clone?`);
  return `${machine}\n${createHash('sha256').update(lock).digest('hex')}\n`;
}

/** True when npm itself noted that it installed exactly this lock file (somebody ran npm by hand). */
function installedByHand() {
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
  if (otherMachine || !installedByHand()) return false;
  writeFileSync(modulesStamp, wanted);
  return true;
}

/**
 * Runs a Node program with its output shown; returns its exit code, or the reason that it did not run. A signal that
 * tells us to stop ends the program too, and then us.
 */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  let told = null;
  const stop = (signal) => {
    told = signal;
    child.kill(signal);
  };
  for (const signal of STOPPING) process.on(signal, stop);
  const result = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `was stopped by ${signal}` : code));
  });
  for (const signal of STOPPING) process.off(signal, stop);
  if (told !== null) process.kill(process.pid, told);
  return result;
}

async function install() {
  const started = Date.now();
  if (lstatSync(inRoot('node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    // npm ci empties the folder first, and through a link that is somebody else's.
    fail(
      `node_modules is a link to ${realpathOf(inRoot('node_modules'))}, which does not match this\n` +
        `package-lock.json. Installing would empty that folder: update it where it belongs, or remove\n` +
        `the link (rm node_modules) and run this again.`,
    );
  }
  say(`installing packages (npm ci, about half a minute) …`);
  // Under `npm start` npm says where it is itself, which also holds where PATH has no npm.
  const npm = process.env.npm_execpath?.endsWith('.js')
    ? [process.execPath, process.env.npm_execpath]
    : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  // --include=dev: under NODE_ENV=production npm would leave out the compiler.
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
        `Its own words are above. Usual causes: no way to the npm registry from here (npm ping),\n` +
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
    return 'a place that is not there';
  }
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const byName = (a, b) => (a < b ? -1 : 1);

function sourcesHash() {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((folder) => filesUnder(inRoot(folder)));
  for (const file of [...files.sort(byName), ...SETTINGS.map((name) => inRoot(name))]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

const distIsFresh = () => readOrNull(distStamp) === sourcesHash();

/**
 * Compiles beside dist/ and then swaps the folders, so that a copy that runs from dist/ meanwhile
 * sees the old build or the new one, never a mixture.
 */
async function build() {
  const started = Date.now();
  const hash = sourcesHash();
  for (const name of readdirSync(root)) {
    // Left behind by a build that was killed; we hold the lock, so nobody is using them.
    if (/^dist-(next|old)$/.test(name)) rmSync(inRoot(name), { recursive: true, force: true });
  }
  say('building …');
  const next = inRoot('dist-next');
  const compiler = inRoot('node_modules', 'typescript', 'bin', 'tsc');
  const steps = [
    {
      name: 'the TypeScript compiler',
      args: [compiler, '-p', 'tsconfig.build.json', '--outDir', next],
    },
    { name: 'the workflow bundler', args: [join(next, 'worker', 'bundle.js')] },
    { name: 'the docs page', args: [join(next, 'src', 'ops', 'docs', 'build.js')] },
  ];
  for (const { name, args } of steps) {
    const result = await run(process.execPath, args);
    if (result !== 0) {
      rmSync(next, { recursive: true, force: true });
      fail(`the build failed: ${name} ended with ${result} (its own words are above).`);
    }
  }
  // `npm link` puts the command on the PATH once; what it leads to stays a program after each build.
  const { bin = {} } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  for (const file of Object.values(bin)) chmodSync(join(next, relative('dist', file)), 0o755);
  writeFileSync(join(next, basename(distStamp)), hash);
  if (existsSync(inRoot('dist'))) renameSync(inRoot('dist'), inRoot('dist-old'));
  renameSync(next, inRoot('dist'));
  rmSync(inRoot('dist-old'), { recursive: true, force: true });
  say(`built in ${seconds(started)}`);
}

async function main() {
  if (!isSupported(process.versions.node)) {
    fail(`${NEEDED}; this is ${process.version} (${process.execPath}).`);
  }
  if (modulesAreFresh() && distIsFresh()) return;

  const locks = join(tmpdir(), 'bursar-setup');
  mkdirSync(locks, { recursive: true });
  const lock = join(locks, `${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`);
  const onWait = (pid) => say(`process ${pid} is setting up this clone; waiting for it …`);
  await withLock(lock, onWait, async () => {
    if (!modulesAreFresh()) await install();
    if (!distIsFresh()) await build();
  });
}

await main();
