import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone's folder, the same whether this runs from src/ (tests) or from dist/. */
export const packageRoot = findPackageRoot(dirname(fileURLToPath(import.meta.url)));

function findPackageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`No package.json above ${fileURLToPath(import.meta.url)}`);
  return findPackageRoot(parent);
}

/** The compiled counterpart of a source file, for processes of their own: these always run from dist/. */
export function compiled(...parts: string[]): string {
  return join(packageRoot, 'dist', ...parts);
}

/** Where `npm start` keeps data, secrets and logs: BURSAR_HOME, or .bursar in the clone. */
export function dataDirPath(env: NodeJS.ProcessEnv): string {
  return env['BURSAR_HOME'] ? resolve(env['BURSAR_HOME']) : join(packageRoot, '.bursar');
}

/** Where fetched engines are kept, shared by all clones of a user. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env['BURSAR_CACHE']) return resolve(env['BURSAR_CACHE']);
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'bursar', 'engines');
  const home = homedir();
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'bursar', 'engines')
    : join(home, '.cache', 'bursar', 'engines');
}
