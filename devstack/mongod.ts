import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';
import { launch, readFrom, sizeOf, type Running } from './processes.js';

/** Settings of one mongod. */
type MongodOptions = {
  binary: string;
  dataDir: string;
  port: number;
  logFile: string;
  /** Called as soon as the process exists, long before it is ready. */
  onSpawn?: (process: Running) => void;
  /** Further arguments. */
  more?: readonly string[];
};

/** A running mongod that accepts writes. */
export type RunningMongod = Omit<Running, 'stop'> & { uri: string; stop(): Promise<void> };

/** The name of the replica set. */
export const REPLICA_SET = 'bursar';
const READY_WITHIN_MS = 60_000;
/** A clean shutdown writes a checkpoint; a killed mongod must replay its journal. */
const STOP_GRACE_MS = 20_000;

const NOT_YET_INITIALIZED = 94;
const INVALID_REPLICA_SET_CONFIG = 93;

/**
 * Starts mongod as a replica set of one (transactions need one) on 127.0.0.1, and returns when it accepts writes. The
 * same data may later use another port.
 */
export async function startMongod(options: MongodOptions): Promise<RunningMongod> {
  const { port, dataDir, logFile } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const logged = sizeOf(logFile);
  const args = [...mongodArguments(options), ...(options.more ?? [])];
  const mongod = launch({ command: options.binary, args, logFile });
  options.onSpawn?.(mongod);
  try {
    await becomePrimary(mongod, port);
  } catch (error) {
    await mongod.stop(STOP_GRACE_MS);
    const why = error instanceof Error ? error.message : String(error);
    const said = lastErrors(readFrom(logFile, logged));
    throw new Error(`mongod ${why}\n${said}  Its log: ${logFile}`, { cause: error });
  }
  const uri = `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}&directConnection=true`;
  return { ...mongod, uri, stop: () => mongod.stop(STOP_GRACE_MS) };
}

/** The command line of a mongod. */
export function mongodArguments({
  dataDir,
  port,
}: Pick<MongodOptions, 'dataDir' | 'port'>): string[] {
  return [
    ['--dbpath', dataDir],
    ['--port', String(port)],
    ['--bind_ip', '127.0.0.1'],
    ['--replSet', REPLICA_SET],
    ['--nounixsocket'],
    ['--wiredTigerCacheSizeGB', '0.5'],
    ['--oplogSize', '512'],
    // Otherwise a process killed inside a transaction blocks its documents for over a minute.
    ['--setParameter', 'transactionLifetimeLimitSeconds=3'],
    // Disables slow-query logs, also of a recovery: they contain whole documents, and with them account numbers.
    ['--slowms', '2147483647'],
    // No other member can take over, so a quiesce period only delays the stop.
    ['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'],
    ['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // Releases before 7.0.28 have a hole in zlib's decompression, which works before sign-in (CVE-2025-14847).
    ['--networkMessageCompressors', 'snappy,zstd'],
  ].flat();
}

async function becomePrimary(mongod: Running, port: number): Promise<void> {
  let last: unknown = 'it did not answer';
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(50)) {
    if (mongod.hasEnded()) throw new Error((await mongod.ended).reason);
    // A client stays closed after a failed connection, so each attempt needs a new one.
    const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, {
      directConnection: true,
      serverSelectionTimeoutMS: 1_000,
      connectTimeoutMS: 2_000,
      maxPoolSize: 1,
    });
    try {
      if (await isOursAndPrimary(client, mongod.pid, port)) return;
      last = 'it is not primary yet';
    } catch (error) {
      last = error;
    } finally {
      await client.close();
    }
  }
  const said = last instanceof Error ? last.message : String(last);
  throw new Error(`was not ready within ${READY_WITHIN_MS / 1000} s: ${said}`);
}

async function isOursAndPrimary(client: MongoClient, pid: number, port: number): Promise<boolean> {
  const admin = client.db('admin');
  // Another mongod on this port would answer too, while this one is about to exit.
  const status = await admin.command({ serverStatus: 1, repl: 0, metrics: 0, wiredTiger: 0 });
  if (Number(status['pid']) !== pid) throw new Error(`port ${port} is served by another process`);

  const hello = await admin.command({ hello: 1 });
  if (hello['isWritablePrimary'] === true) return true;
  await configure(client, `127.0.0.1:${port}`);
  return false;
}

/** Makes this address the set's only member, for the first start and for data that used another port before. */
async function configure(client: MongoClient, host: string): Promise<void> {
  const admin = client.db('admin');
  const members = [{ _id: 0, host }];
  try {
    const { config } = await admin.command({ replSetGetConfig: 1 });
    if (config.members.length === 1 && config.members[0].host === host) return;
    const next = { ...config, version: Number(config.version) + 1, members };
    await admin.command({ replSetReconfig: next, force: true });
  } catch (error) {
    const code = error instanceof MongoServerError ? error.code : null;
    if (code !== NOT_YET_INITIALIZED && code !== INVALID_REPLICA_SET_CONFIG) throw error;
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
  }
}

/** Extracts the errors from mongod's log, which has one JSON document per line. */
function lastErrors(log: string): string {
  const lines = log.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return line.trim() === '' ? [] : [line];
    try {
      const { s, msg, attr } = JSON.parse(line) as { s: string; msg: string; attr?: object };
      return s === 'E' || s === 'F' ? [`${msg} ${JSON.stringify(attr ?? {})}`] : [];
    } catch {
      return [];
    }
  });
  return lines
    .slice(-3)
    .map((line) => `  ${line.slice(0, 300)}\n`)
    .join('');
}
