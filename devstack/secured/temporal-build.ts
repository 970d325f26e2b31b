import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { withLock } from '../lock.js';
import { cacheFolder } from '../paths.js';

/** Names the release of the server, and has the hash of every module that it is built from. */
const MODULE = join(packageRoot, 'devstack', 'secured', 'temporal-server');
const PROGRAMS = {
  server: 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
};

/** The programs of a Temporal server. */
export type TemporalPrograms = { server: string; sqlTool: string };

/**
 * Builds Temporal's server and its tool for schemas from their Go module into the user's cache, or finds them there. Throws a
 * line that says what is missing.
 */
export async function buildTemporal(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<TemporalPrograms> {
  const release = releaseIn(readFileSync(join(MODULE, 'go.mod'), 'utf8'));
  const folder = join(cacheFolder(env), `temporal-server-${release}-${process.arch}`);
  const programs = { server: join(folder, 'server'), sqlTool: join(folder, 'temporal-sql-tool') };
  mkdirSync(cacheFolder(env), { recursive: true });
  const onWait = (pid: number) => say(`process ${pid} is building Temporal; waiting …`);
  await withLock(`${folder}.lock`, onWait, () => {
    if (existsSync(programs.server) && existsSync(programs.sqlTool)) return;
    if (spawnSync('go', ['version']).status !== 0) {
      throw new Error(
        'Go is missing: install it (go.dev, or a package of your system), 1.24 or later',
      );
    }
    say(`building Temporal ${release} from its Go module; the first time takes minutes …`);
    const next = `${folder}.next`;
    rmSync(next, { recursive: true, force: true });
    mkdirSync(next, { recursive: true });
    for (const [name, source] of Object.entries(PROGRAMS)) build(next, name, source, env);
    renameSync(next, folder);
  });
  return programs;
}

function releaseIn(module: string): string {
  const [, release] = /go\.temporal\.io\/server (v\S+)/.exec(module) ?? [];
  if (release === undefined) throw new Error(`${MODULE} names no release of Temporal's server`);
  return release;
}

function build(folder: string, name: string, source: string, env: NodeJS.ProcessEnv): void {
  const { status } = spawnSync('go', ['build', '-o', join(folder, name), source], {
    cwd: MODULE,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-trimpath -mod=readonly' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error(`go build ${source} failed; its output is above`);
}
