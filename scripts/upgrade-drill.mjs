// npm run drill:upgrade [-- --from <commit>]: an older build of this repository and the present one exchange each other
// under load, forwards and back (test/chaos/upgrade). The older commit is the newest one from before the last migration.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const MIGRATIONS = 'src/composition/migrations.ts';
/** The beginning of a step of the schema in that file. */
const MIGRATION = "collectionsMigration\\('";

const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** The commit by this name; null if this clone does not have it. */
function commitOf(name) {
  try {
    return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).trim();
  } catch {
    return null;
  }
}

/** The first build that counted the deposits of an account, which no other build does, and the first after them. None was released. */
const MISCOUNTING = ['e3ee71c8', '1808f076'];

/** True if a commit is one of a series: from its first one on, and before the one that ends it. */
function isInSeries(commit, [first, end]) {
  if (commitOf(first) === null || commitOf(end) === null) return false;
  const isBefore = (one, other) =>
    spawnSync('git', ['merge-base', '--is-ancestor', one, other], { cwd: root }).status === 0;
  return isBefore(first, commit) && !isBefore(end, commit);
}

/** The parent of the commit that added the last migration. A shallow clone may not have it, and gives its oldest commit. */
function olderCommit() {
  const head = commitOf('HEAD');
  if (head === null) return null;
  const added = git('log', '-1', '--format=%H', `-G${MIGRATION}`, '--', MIGRATIONS).trim();
  const before = added === '' ? null : commitOf(`${added}~1`);
  if (before !== null)
    return isInSeries(before, MISCOUNTING) ? commitOf(`${MISCOUNTING[0]}~1`) : before;
  console.log('bursar: this clone lacks the commit from before the last migration');
  const oldest = git('log', '--format=%H').trim().split('\n').at(-1);
  return oldest === head ? null : oldest;
}

function run(command, args, cwd, env = process.env) {
  const { status } = spawnSync(command, args, { cwd, env, stdio: 'inherit' });
  return status ?? 1;
}

/** Builds the commit in a folder of its own, with the packages of this clone. */
function build(commit, folder) {
  const archive = join(folder, 'source.tar');
  git('archive', '--output', archive, commit);
  if (run('tar', ['-xf', archive, '-C', folder], folder) !== 0) throw new Error('tar failed');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  // Processes commit for others of their own release alone, and both commits may have the same version.
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  manifest.version = `${manifest.version}-${commit.slice(0, 8)}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  for (const args of [
    [compiler, '-p', 'tsconfig.build.json', '--outDir', 'dist'],
    [join('dist', 'worker', 'bundle.js')],
    [join('dist', 'src', 'ops', 'docs', 'build.js')],
  ]) {
    if (run(process.execPath, args, folder) !== 0) throw new Error(`${commit} does not build`);
  }
  return join(folder, 'dist');
}

const { from } = parseArgs({ options: { from: { type: 'string' } } }).values;
const commit = from === undefined ? olderCommit() : commitOf(from);
if (commit === null) {
  const what = from === undefined ? 'no older commit' : `no commit ${from}`;
  console.log(`bursar: ${what} in this clone, so there is no older build: nothing was tried`);
  process.exit(from === undefined ? 0 : 1);
}
console.log(`bursar: from ${git('log', '-1', '--format=%h of %cs, %s', commit).trim()}`);
const folder = mkdtempSync(join(tmpdir(), 'bursar-older-'));
try {
  const dist = build(commit, folder);
  const jest = join(root, 'scripts', 'jest.mjs');
  const args = [jest, '--config', 'jest.chaos.config.js', 'chaos/upgrade/'];
  process.exitCode = run(process.execPath, args, root, { ...process.env, BURSAR_OLDER_DIST: dist });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
