import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheFolder } from '../../devstack/paths.js';
import { packageRoot } from '../../src/shared/package-root.js';

/** Names the folder of the installed packages to the peers' processes. */
export const PACKAGES = 'BENCH_PEER_PACKAGES';

const SOURCE = join(packageRoot, 'bench', 'peers');
const FILES = ['package.json', 'package-lock.json'];

/**
 * Installs the packages of the peers and of the picture into the user's cache, beside the engines, and returns the folder.
 * They are not among this repository's own packages: Restate's server alone is larger than all of these together.
 */
export function installPackages(): string {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(join(SOURCE, file)));
  const cache = cacheFolder(process.env);
  const folder = join(cache, `bench-peers-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  process.stderr.write('fetching DBOS, Restate and Vega-Lite …\n');
  mkdirSync(cache, { recursive: true });
  const staging = mkdtempSync(join(cache, '.fetching-'));
  for (const file of FILES) copyFileSync(join(SOURCE, file), join(staging, file));
  const { status, stderr } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
    { cwd: staging, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`npm could not fetch them: ${stderr}`);
  renameSync(staging, folder);
  return folder;
}

/** Loads a package that `installPackages` has installed, in a process whose environment names the folder. */
export function requirePeer(name: string): unknown {
  const folder = process.env[PACKAGES];
  if (folder === undefined) throw new Error(`${PACKAGES} is not set`);
  return createRequire(join(folder, 'package.json'))(name);
}

/** Loads an ES module that `installPackages` has installed into this folder. */
export const importPackage = (folder: string, name: string): Promise<unknown> =>
  import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(name)).href);
