import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { RELEASES, type EngineName } from './releases.js';
import { withLock } from './lock.js';
import { cacheFolder } from './paths.js';

const ABOUT = 'about.json';
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/** The result of a fetch into a given folder: the program's path in it, and its origin. */
export type Fetched = { file: string; from: string };

function entryFolder(engine: EngineName, env: NodeJS.ProcessEnv): string {
  const name = `${RELEASES[engine].cacheKey}-${process.platform}-${process.arch}`;
  return join(cacheFolder(env), name);
}

/** Returns the program that an earlier start fetched, or null. */
export function cached(engine: EngineName, env: NodeJS.ProcessEnv): string | null {
  const folder = entryFolder(engine, env);
  try {
    const about = JSON.parse(readFileSync(join(folder, ABOUT), 'utf8')) as Fetched;
    const binary = join(folder, about.file);
    return existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
}

/** Serialises fetches of an engine for each user; waiting processes then find the result. */
export async function whileFetching<T>(
  engine: EngineName,
  env: NodeJS.ProcessEnv,
  onWait: (pid: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  mkdirSync(cacheFolder(env), { recursive: true });
  removeAbandoned(cacheFolder(env));
  return withLock(`${entryFolder(engine, env)}.lock`, onWait, work);
}

/**
 * Fills a temporary folder and renames it into place, so the cache never holds half an engine. Returns the program's
 * path.
 */
export async function fillCache(
  engine: EngineName,
  env: NodeJS.ProcessEnv,
  fetch: (folder: string) => Promise<Fetched>,
): Promise<string> {
  const staging = mkdtempSync(join(cacheFolder(env), '.fetching-'));
  try {
    const fetched = await fetch(staging);
    writeFileSync(join(staging, ABOUT), `${JSON.stringify(fetched, null, 2)}\n`);
    const folder = entryFolder(engine, env);
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
    return join(folder, fetched.file);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Removes the temporary folders of fetches that were killed. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!name.startsWith('.fetching-')) continue;
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - touched > ABANDONED_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
