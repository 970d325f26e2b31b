import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../src/platform/database/client.js';
import type { Running } from '../devstack/processes.js';
import { isPolled } from '../devstack/temporal.js';
import type { Failpoint } from '../src/shared/failpoints.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { createTemporal } from '../src/platform/temporal/client.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import { answers, environmentOf, type Stack } from './stack.js';
import { BARE_QUEUE } from './transfer-subjects.js';
import { createRichTenant, type transferBody } from './transfers.js';

/**
 * The bank pays every request, also repeats. It refuses requests older than this, which proves that they were not
 * executed.
 */
const BANK = { SANDBOX_BANK_DEDUPLICATE: 'false', SANDBOX_BANK_CONCLUSIVE_AFTER_MS: '2000' };

/** A transfer as a client requests it. */
export type TransferBody = ReturnType<typeof transferBody>;
/** `attention`: an operator has been called. */
export type SubjectStatus = 'none' | 'open' | 'attention' | 'completed' | 'failed';

/** A service that makes transfers, with its processes and database. */
export type Target = {
  /**
   * Starts its processes; the one that calls the bank dies at the failpoint, if one is named. Resolves when all are
   * ready.
   */
  start(point?: Failpoint): Promise<void>;
  /** Kills the remaining processes with kill -9. */
  kill(): Promise<void>;
  /** True if the process that calls the bank has died at its failpoint. */
  isDead(): boolean;
  /** One attempt of a client. Rejects if it gets no answer, or one that permits a retry. */
  submit(transfer: TransferBody, signal: AbortSignal): Promise<void>;
  readStatus(reference: string): Promise<SubjectStatus>;
  keptIn: readonly Database[];
};

/** A database that can be frozen, killed, and started again with its data. */
export type Database = {
  freeze(): void;
  kill(): void;
  back(): Promise<void>;
};

/** Opens all services beside one bank, each on engines of the same kind. */
export async function openTargets(stack: Stack) {
  const [mongod, temporal] = [await stack.mongod(), await stack.temporal()];
  const ports = [await stack.freePort(), await stack.freePort(), await stack.freePort()] as const;
  const [bankPort, apiPort, naivePort] = ports;
  const made = environmentOf(stack, {
    mongodbUri: mongod.uri,
    temporalAddress: temporal.address,
    bankPort,
    apiPort,
  });
  const { config } = made;
  const env = { ...made.env, ...BANK };
  stack.node('bank', env);
  const bank = `http://127.0.0.1:${bankPort}/_sandbox`;
  await stack.until('bank', () => answers(`${bank}/health`));
  const engines = {
    mongod: restartable(mongod, (port) => stack.mongod(port)),
    temporal: restartable(temporal, (port) => stack.temporal(port)),
  };
  const shared = { stack, config, env, engines };
  const ours = await createOurs({ ...shared, url: `http://127.0.0.1:${apiPort}` });
  const bare = createBare(shared);
  const naive = createNaive({ ...shared, port: naivePort });
  return {
    bank,
    targets: { ours: ours.target, bare: bare.target, naive },
    versions: { MongoDB: mongod.version, 'Temporal CLI': temporal.version },
    close: async () => {
      await ours.close();
      await bare.close();
    },
  };
}

type Shared = {
  stack: Stack;
  config: ReturnType<typeof environmentOf>['config'];
  env: NodeJS.ProcessEnv;
  engines: Record<'mongod' | 'temporal', Database>;
};

function restartable<Engine extends { pid: number; port: number }>(
  first: Engine,
  start: (port: number) => Promise<Engine>,
): Database {
  let { pid } = first;
  return {
    freeze: () => process.kill(pid, 'SIGSTOP'),
    kill: () => process.kill(pid, 'SIGKILL'),
    back: async () => void ({ pid } = await start(first.port)),
  };
}

/** Kills all of them at once with kill -9. */
async function killAll(processes: Running[]): Promise<void> {
  const all = processes.splice(0);
  for (const one of all) if (!one.hasEnded()) process.kill(one.pid, 'SIGKILL');
  await Promise.all(all.map(({ ended }) => ended));
}

const pointed = (env: NodeJS.ProcessEnv, point?: Failpoint): NodeJS.ProcessEnv =>
  point ? { ...env, BURSAR_FAILPOINT: point } : env;

async function post(
  url: string,
  headers: Record<string, string>,
  transfer: TransferBody,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(transfer),
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`answered ${response.status}: ${text}`);
}

async function createOurs({ stack, config, env, engines, url }: Shared & { url: string }) {
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const running: Running[] = [];
  const { address, namespace, taskQueue } = config.temporal;
  const start = async (point?: Failpoint) => {
    // The worker calls the bank, so it is the process that dies at the failpoint; it must be the first.
    running.push(stack.node('worker', pointed(env, point)), stack.node('api', env));
    await stack.until('api', () => answers(`${url}/health/ready`));
    await stack.until('worker', () => isPolled(address, { namespace, taskQueue }));
  };
  // The first start creates the collections.
  await start();
  await killAll(running);
  const { key } = await createRichTenant(config, database, createGroupCommit(database));
  const target: Target = {
    start,
    kill: () => killAll(running),
    isDead: () => running[0]?.hasEnded() ?? true,
    submit: (transfer, signal) => {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': transfer.reference };
      return post(`${url}/api/v1/transfers`, headers, transfer, signal);
    },
    async readStatus(reference) {
      const found = await database.db.collection<Transfer>('transfers').findOne({ reference });
      if (!found) return 'none';
      if (found.status === 'completed' || found.status === 'failed') return found.status;
      return found.attention ? 'attention' : 'open';
    },
    keptIn: [engines.mongod, engines.temporal],
  };
  return { target, close: () => database.client.close() };
}

function createBare({ stack, config, env, engines }: Shared) {
  const temporal = createTemporal(config.temporal);
  const { workflow, connection } = temporal.client;
  const running: Running[] = [];
  const { address, namespace } = config.temporal;
  const target: Target = {
    async start(point) {
      const own = { ...pointed(env, point), BENCH_PEER_QUEUE: BARE_QUEUE };
      running.push(stack.node('bareWorker', own));
      await stack.until('bareWorker', () =>
        isPolled(address, { namespace, taskQueue: BARE_QUEUE }),
      );
    },
    kill: () => killAll(running),
    isDead: () => running[0]?.hasEnded() ?? true,
    async submit(transfer, signal) {
      const { reference } = transfer;
      await connection.withAbortSignal(signal, () =>
        workflow.start('peerTransfer', {
          taskQueue: BARE_QUEUE,
          workflowId: `peer/${reference}`,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          args: [transfer],
        }),
      );
    },
    async readStatus(reference) {
      const handle = workflow.getHandle(`peer/${reference}`);
      const found = await handle.describe().catch(() => null);
      if (!found) return 'none';
      if (found.status.name === 'RUNNING') return 'open';
      return found.status.name === 'COMPLETED' ? 'completed' : 'failed';
    },
    keptIn: [engines.temporal],
  };
  return { target, close: () => temporal.close() };
}

function createNaive({ stack, config, env, engines, port }: Shared & { port: number }): Target {
  const running: Running[] = [];
  const url = `http://127.0.0.1:${port}/transfers`;
  const headers = { authorization: `Bearer ${config.sandboxBank?.secret}` };
  return {
    async start(point) {
      running.push(stack.node('naive', { ...pointed(env, point), PORT: String(port) }));
      await stack.until('naive', async () => (await fetch(url)).status === 401);
    },
    kill: () => killAll(running),
    isDead: () => running[0]?.hasEnded() ?? true,
    submit: (transfer, signal) => post(url, headers, transfer, signal),
    async readStatus(reference) {
      const response = await fetch(`${url}/${reference}`, { headers });
      if (response.status === 404) return 'none';
      const { status } = (await response.json()) as { status: string };
      return status === 'pending' ? 'open' : (status as SubjectStatus);
    },
    keptIn: [engines.mongod],
  };
}

/** Pause until the killed processes answer again. */
export const breathe = () => sleep(1_000);
