import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch, type Running } from './processes.js';

/** Debian installs each major version into a folder of its own. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of PostgreSQL's programs, the newest version; null where the package `postgresql` is not installed. */
export function findPostgres(): string | null {
  if (!existsSync(DEBIAN)) return null;
  const versions = readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a));
  const folder = versions.map((version) => join(DEBIAN, version, 'bin'));
  return folder.find((bin) => existsSync(join(bin, 'postgres'))) ?? null;
}

/** Creates a PostgreSQL server with its default durability, fsync at each commit, and starts it. */
export function startPostgres({ bin, folder, port, logFile }: Settings): {
  process: Running;
  url: string;
  isReady: () => boolean;
} {
  const dataDir = join(folder, 'postgres');
  mkdirSync(dataDir);
  const asUser = userOf({ folder, dataDir });
  const [command, ...args] = [...asUser, join(bin, 'initdb')];
  const created = spawnSync(
    command ?? '',
    [...args, '--pgdata', dataDir, '--username', 'bench', '--auth', 'trust', '--encoding', 'UTF8'],
    { encoding: 'utf8', cwd: '/' },
  );
  if (created.status !== 0) throw new Error(`initdb: ${created.stderr}`);
  const [server, ...options] = [...asUser, join(bin, 'postgres')];
  const process = launch({
    command: server ?? '',
    args: [
      ...options,
      '-D',
      dataDir,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
    ].concat(['-c', 'unix_socket_directories=', '-c', 'max_connections=200']),
    cwd: '/',
    logFile,
  });
  const ready = ['--host', '127.0.0.1', '--port', String(port)];
  return {
    process,
    url: `postgresql://bench@127.0.0.1:${port}/bench`,
    isReady: () => spawnSync(join(bin, 'pg_isready'), ready).status === 0,
  };
}

type Settings = { bin: string; folder: string; port: number; logFile: string };

/** PostgreSQL refuses to run as root. Its package has a user for it, who needs the data and the way there. */
function userOf({ folder, dataDir }: { folder: string; dataDir: string }): string[] {
  if (process.getuid?.() !== 0) return [];
  const id = (flag: string) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  chmodSync(folder, 0o711);
  chownSync(dataDir, id('-u'), id('-g'));
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'];
}
