import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { packageRoot } from '../../src/shared/package-root.js';
import { loadConfig } from '../../src/shared/config.js';
import { ensureNamespace } from '../../src/platform/temporal/namespace.js';
import { claimPort } from '../ports.js';
import { findPostgres, startPostgres } from '../postgres.js';
import { launch, readFrom, type Running } from '../processes.js';
import { composeService } from './compose.js';
import type { TemporalPrograms } from './temporal-build.js';

const READY_WITHIN_MS = 120_000;
/** Cannot be changed later, so a deployment begins with many. */
const HISTORY_SHARDS = '512';

type Settings = {
  programs: TemporalPrograms;
  folder: string;
  /** The folder of certificates that `makeSecrets` has made. */
  secrets: string;
  /** Returns the log file of a process. */
  logOf: (name: string) => string;
  onSpawn: (process: Running) => void;
};

/** The settings of a client of the server. */
export type TemporalClientSettings = Record<`TEMPORAL_${string}`, string>;

/**
 * Starts a Temporal server on PostgreSQL with many history shards and mutual TLS, with the environment of docker-compose.yml.
 * Returns when the namespace of the sandbox has its search attributes.
 */
export async function startSecuredTemporal(settings: Settings): Promise<TemporalClientSettings> {
  const { programs, secrets, logOf, onSpawn } = settings;
  const database = await startDatabase(settings);
  createSchema(programs.sqlTool, database);
  const port = await freePort();
  const server = launch({
    command: programs.server,
    args: ['start'],
    env: { PATH: process.env['PATH'], ...(await serverEnvironment(secrets, database, port)) },
    logFile: logOf('temporal'),
  });
  onSpawn(server);
  const client = {
    TEMPORAL_ADDRESS: `localhost:${port}`,
    TEMPORAL_TLS: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(secrets, 'ca.pem'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: join(secrets, 'bursar.crt'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: join(secrets, 'bursar.key'),
  };
  await becomeReady(server, client, logOf('temporal'));
  return client;
}

const freePort = async () => (await claimPort(29_700)).port;

type Database = { port: number; user: string };

async function startDatabase({ folder, logOf, onSpawn }: Settings): Promise<Database> {
  const bin = findPostgres();
  if (bin === null) throw new Error('PostgreSQL is missing: apt-get install postgresql');
  const port = await freePort();
  const postgres = startPostgres({ bin, folder, port, logFile: logOf('postgres') });
  onSpawn(postgres.process);
  for (const end = Date.now() + READY_WITHIN_MS; !postgres.isReady(); await sleep(100)) {
    if (postgres.process.hasEnded() || Date.now() > end) {
      throw new Error(`PostgreSQL did not start:\n${readFrom(logOf('postgres'), 0)}`);
    }
  }
  return { port, user: new URL(postgres.url).username };
}

/** Does what the service temporal-schema does, with the schemas that the tool contains. */
function createSchema(sqlTool: string, { port, user }: Database): void {
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    for (const command of [
      ['create'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ]) {
      const server = ['--plugin', 'postgres12', '--ep', '127.0.0.1', '-p', String(port)];
      const { status, stdout, stderr } = spawnSync(
        sqlTool,
        [...server, '-u', user, '--db', database, ...command],
        { encoding: 'utf8' },
      );
      if (status !== 0) throw new Error(`temporal-sql-tool ${command[0]}: ${stdout}${stderr}`);
    }
  }
}

/** The environment of docker-compose.yml, with addresses, ports and paths of this machine. */
async function serverEnvironment(
  secrets: string,
  database: Database,
  port: number,
): Promise<Record<string, string>> {
  const given = Object.entries(composeService('temporal').environment ?? {}).map(
    ([name, value]) => [name, String(value).replace('/run/secrets', secrets)] as const,
  );
  const own: Record<string, string> = {
    POSTGRES_SEEDS: '127.0.0.1',
    DB_PORT: String(database.port),
    POSTGRES_USER: database.user,
    POSTGRES_PWD: 'is not asked for',
    BIND_ON_IP: '127.0.0.1',
    NUM_HISTORY_SHARDS: HISTORY_SHARDS,
    DYNAMIC_CONFIG_FILE_PATH: join(packageRoot, 'deploy/compose/temporal-dynamic-config.yml'),
    FRONTEND_GRPC_PORT: String(port),
  };
  for (const service of ['FRONTEND', 'MATCHING', 'HISTORY', 'WORKER']) {
    own[`${service}_MEMBERSHIP_PORT`] = String(await freePort());
    if (service !== 'FRONTEND') own[`${service}_GRPC_PORT`] = String(await freePort());
  }
  own['FRONTEND_HTTP_PORT'] = String(await freePort());
  return { ...Object.fromEntries(given), ...own };
}

async function becomeReady(
  server: Running,
  client: TemporalClientSettings,
  logFile: string,
): Promise<void> {
  const { temporal } = loadConfig({ ...PLACEHOLDERS, ...client });
  let last: unknown = 'it did not answer';
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(200)) {
    if (server.hasEnded()) break;
    try {
      const connection = await Connection.connect({
        ...temporal.connection,
        connectTimeout: 2_000,
      });
      try {
        await ensureNamespace(connection, temporal.namespace, 'sandbox');
        return;
      } finally {
        await connection.close();
      }
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`Temporal is not ready: ${String(last)}\n${readFrom(logFile, 0).slice(-3_000)}`);
}

/** The configuration asks for these, and the connection to Temporal does not. */
const PLACEHOLDERS = {
  MONGODB_URI: 'mongodb://127.0.0.1/',
  BURSAR_KEY_PEPPER: 'is not used for a connection to Temporal',
  BURSAR_SEALING_KEYS: `none:${Buffer.alloc(32, 1).toString('base64')}`,
  SANDBOX_BANK_SECRET: 'is not used here',
};
