import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { packageRoot } from '../src/shared/package-root.js';

/** The folder of data, secrets and logs of `npm start`: BURSAR_HOME, or .bursar in the clone. */
export function dataDirPath(env: NodeJS.ProcessEnv): string {
  return env['BURSAR_HOME'] ? resolve(env['BURSAR_HOME']) : join(packageRoot, '.bursar');
}

/** The folder of fetched engines, shared by all clones of a user. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env['BURSAR_CACHE']) return resolve(env['BURSAR_CACHE']);
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'bursar', 'engines');
  const home = homedir();
  return process.platform === 'darwin'
    ? join(home, 'Library', 'Caches', 'bursar', 'engines')
    : join(home, '.cache', 'bursar', 'engines');
}
