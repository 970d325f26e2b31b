import {
  copyFileSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/cli.js';
import { operatorSignIn, stopOperatorApis } from '../support/operators.js';
import { startService } from '../support/service.js';
import { installedInImage, type Lock } from './image-packages.js';

const LIMIT_BYTES = 150_000_000;

const root = join(import.meta.dirname, '..', '..');
const image = mkdtempSync(join(tmpdir(), 'bursar-image-'));
afterAll(() => rmSync(image, { recursive: true, force: true }));

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'));
const production = installedInImage(readJson('package-lock.json') as Lock);

/** Shares the files where the file system can: the tree has thousands, and the test only removes some. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isFile()) link(source, target);
    // Packages below a package are entries of the lock file, too.
    else if (entry.name !== 'node_modules') copyFolder(source, target);
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
}

function prune() {
  return run(process.execPath, [join(root, 'scripts', 'prune-image.mjs'), image], {});
}

/** The tree of the Dockerfile's last stage: packages of production, the build, package.json. */
beforeAll(async () => {
  for (const { path } of production) copyFolder(join(root, path), join(image, path));
  cpSync(join(root, 'dist'), join(image, 'dist'), { recursive: true });
  copyFileSync(join(root, 'package.json'), join(image, 'package.json'));
});

test('the build of the image prunes its tree with the script that is tested here', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain('npm prune --omit=dev && node scripts/prune-image.mjs');
});

test('the pruned tree keeps the native core of this machine alone, and stays below its limit', async () => {
  const releases = join(image, 'node_modules', '@temporalio', 'core-bridge', 'releases');
  expect(readdirSync(releases).length).toBeGreaterThan(1);
  expect(await prune()).toMatchObject({ code: 0 });
  expect(readdirSync(releases)).toHaveLength(1);
  expect(sizeOf(join(image, 'node_modules'))).toBeLessThan(LIMIT_BYTES);
  // Nothing is left to remove, and the build that is needed stays.
  expect(await prune()).toMatchObject({ code: 0, out: expect.stringContaining('removed nothing') });
  expect(readdirSync(releases)).toHaveLength(1);
});

test('API, worker, bank and command line run from the pruned tree', async () => {
  const service = await startService({ dist: join(image, 'dist') });
  try {
    const tenant = await service.tenant();
    const id = await tenant.send();
    await service.allEnded();
    expect(await tenant.get(id)).toMatchObject({ status: 'completed' });
    const { bin } = readJson('package.json') as { bin: { bursar: string } };
    const command = join(image, bin.bursar);
    const shown = await run(process.execPath, [command, 'transfers', 'show', id, '--json'], {
      ...service.env,
      ...(await operatorSignIn(service.env)),
    });
    expect(shown).toMatchObject({ code: 0, error: '' });
  } finally {
    await stopOperatorApis();
    await service.close();
  }
});
