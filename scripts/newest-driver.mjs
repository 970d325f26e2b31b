// Reports whether our patch of the MongoDB driver (decision 13) is still needed: `node scripts/newest-driver.mjs`.
// Runs test/platform/database/stalled-write with the newest release, patched and unpatched. A new release must not
// fail the build, so the result is a line that begins with `notice:`, which .ci/run repeats at its end.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const versionIn = (folder) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
const pinnedFolder = join(root, 'node_modules', 'mongodb');
const pinned = versionIn(pinnedFolder);
/** Parts of the titles of the two tests. Without the patch, the first fails at once, and the second runs into its time limit. */
const [QUICK, SLOW] = ['connection breaks', 'stopped reading'];

function passes(folder, { patched, tests }) {
  const jest = join(root, 'scripts', 'jest.mjs');
  const options = ['--config', 'jest.driver.config.js', '--reporters', 'default', '-t', tests];
  const { status, stderr } = spawnSync(
    process.execPath,
    [jest, ...options, 'test/platform/database/stalled-write'],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        BURSAR_TEST_DRIVER: folder,
        ...(!patched && { BURSAR_TEST_UNPATCHED: '1' }),
      },
    },
  );
  if (!/^Tests: .*(passed|failed)/m.test(stderr)) throw new Error(`No test ran:\n${stderr}`);
  return status === 0;
}

const folder = mkdtempSync(join(tmpdir(), 'bursar-driver-'));
try {
  const npm = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', 'mongodb@latest'];
  if (spawnSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) {
    console.log('notice: the newest MongoDB driver could not be fetched; nothing is known of it');
  } else {
    report(join(folder, 'node_modules', 'mongodb'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(newestFolder) {
  const newest = versionIn(newestFolder);
  if (passes(pinnedFolder, { patched: false, tests: QUICK })) {
    throw new Error(`Without the patch, ${pinned} passes: it is not needed, or not left out here.`);
  }
  if (!passes(newestFolder, { patched: true, tests: `${QUICK}|${SLOW}` })) {
    console.log(`notice: mongodb ${newest} fails with our patch; ${pinned} stays pinned`);
  } else if (
    passes(newestFolder, { patched: false, tests: QUICK }) &&
    passes(newestFolder, { patched: false, tests: SLOW })
  ) {
    console.log(
      `notice: mongodb ${newest} needs no patch: raise it and remove the patch (docs/decisions/0013)`,
    );
  } else {
    console.log(`mongodb ${newest} still needs the patch, and works with it; ${pinned} is pinned`);
  }
}
