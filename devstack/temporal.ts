import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { searchAttributes } from '../src/platform/temporal/search-attributes.js';
import { launch, readFrom, sizeOf, type Running } from './processes.js';

/** Settings of a Temporal dev server. */
type TemporalOptions = {
  binary: string;
  /** Null keeps the data in memory. */
  dbFile: string | null;
  port: number;
  /** Null disables the UI. */
  uiPort: number | null;
  namespace: string;
  logFile: string;
  /** Called as soon as the process exists, long before it is ready. */
  onSpawn?: (process: Running) => void;
  /** Further settings of the server, as `key=value`. */
  dynamicConfig?: readonly string[];
};

/** A running Temporal server whose namespace answers. */
export type RunningTemporal = Omit<Running, 'stop'> & {
  address: string;
  uiUrl: string | null;
  stop(): Promise<void>;
};

const READY_WITHIN_MS = 60_000;
const STOP_GRACE_MS = 15_000;

/** The dev server has one shard, and limits for clusters of hundreds, such as 20 polls a second. */
const TUNING = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=2000',
  'history.outboundProcessorMaxPollRPS=2000',
  // Without this, timers fire up to a second late.
  'history.timerProcessorMaxTimeShift="5ms"',
];

const SEARCH_ATTRIBUTES = Object.values(searchAttributes).map(
  ({ name, type }) => `${name}=${TypedSearchAttributes.toMetadataType(type)}`,
);

/**
 * Starts Temporal's dev server on 127.0.0.1, tuned, with our namespace and search attributes, and returns when the
 * namespace answers. Its other listeners (metrics, HTTP, internal) choose free ports themselves; if two starts choose
 * the same one, this rejects and can be called again.
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const { port, uiPort, logFile, dbFile } = options;
  if (dbFile !== null) mkdirSync(dirname(dbFile), { recursive: true, mode: 0o700 });
  const logged = sizeOf(logFile);
  const temporal = launch({ command: options.binary, args: temporalArguments(options), logFile });
  options.onSpawn?.(temporal);
  try {
    await becomeReady(temporal, options, () => readFrom(logFile, logged));
  } catch (error) {
    await temporal.stop(STOP_GRACE_MS);
    const why = error instanceof Error ? error.message : String(error);
    const lines = readFrom(logFile, logged).trim().split('\n').slice(-3);
    const said = lines.map((line) => `  ${line.slice(0, 300)}\n`).join('');
    throw new Error(`temporal ${why}\n${said}  Its log: ${logFile}`, { cause: error });
  }
  return {
    ...temporal,
    address: `127.0.0.1:${port}`,
    uiUrl: uiPort === null ? null : `http://127.0.0.1:${uiPort}`,
    stop: () => temporal.stop(STOP_GRACE_MS),
  };
}

function temporalArguments(options: TemporalOptions): string[] {
  const { port, uiPort, dbFile, namespace, dynamicConfig = [] } = options;
  const file = dbFile === null ? [] : ['--db-filename', dbFile];
  return [
    ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort), '--ui-disable-news-fetch'],
    ['--namespace', namespace, '--log-level', 'warn'],
    file,
    ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    [...TUNING, ...dynamicConfig].flatMap((value) => ['--dynamic-config-value', value]),
    SEARCH_ATTRIBUTES.flatMap((attribute) => ['--search-attribute', attribute]),
  ].flat();
}

async function becomeReady(
  temporal: Running,
  { port, namespace }: TemporalOptions,
  output: () => string,
): Promise<void> {
  let last: unknown = 'it did not answer';
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(50)) {
    if (temporal.hasEnded()) throw new Error((await temporal.ended).reason);
    // The server prints this once it serves. Another server on this port would answer too, but then ours exits
    // without printing it.
    if (!output().includes('Temporal Server:')) continue;
    try {
      await describe(`127.0.0.1:${port}`, namespace);
      if (!temporal.hasEnded()) return;
    } catch (error) {
      last = error;
    }
  }
  const said = last instanceof Error ? last.message : String(last);
  throw new Error(`was not ready within ${READY_WITHIN_MS / 1000} s: ${said}`);
}

async function describe(address: string, namespace: string): Promise<void> {
  await query(address, (connection) => connection.workflowService.describeNamespace({ namespace }));
}

/** True if a worker polls this queue. */
export async function isPolled(
  address: string,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): Promise<boolean> {
  const { pollers } = await query(address, (connection) =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: 1,
    }),
  );
  return pollers.length > 0;
}

async function query<T>(address: string, call: (connection: Connection) => Promise<T>) {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    return await connection.withDeadline(Date.now() + 2_000, () => call(connection));
  } finally {
    await connection.close();
  }
}
