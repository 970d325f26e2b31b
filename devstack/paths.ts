import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { packageRoot } from '../src/shared/package-root.js';

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
