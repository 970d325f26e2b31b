import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { loadConfig, type Config } from '../src/shared/config.js';
import { connectDatabase } from '../src/platform/database/client.js';
import { isPolled } from '../devstack/temporal.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { createTemporal } from '../src/platform/temporal/client.js';
import { watchCompletions } from './completions.js';
import { answers, environmentOf, type Stack } from './stack.js';
import { createRichTenant, transferBody } from './transfers.js';

/** The task queue of the bare workflow. */
export const BARE_QUEUE = 'bench-bare';
const GRACE_MS = 10_000;

/** One way to make a transfer: its processes, and a client that waits until the transfer is completed. */
export type TransferSubject = {
  processes: Record<string, number>;
  act: (postMs: number[]) => Promise<void>;
};

/** Starts everything as `npm start` does, and the peers beside it, idle in the others' rounds. */
async function start(stack: Stack) {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const ports = [await stack.freePort(), await stack.freePort(), await stack.freePort()] as const;
  const [bankPort, apiPort, naivePort] = ports;
  const { address: temporalAddress } = temporal;
  const at = { mongodbUri: mongod.uri, temporalAddress, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const bank = stack.node('bank', env);
  const [api, worker] = [stack.node('api', env), stack.node('worker', env)];
  const bare = stack.node('bareWorker', { ...env, BENCH_PEER_QUEUE: BARE_QUEUE });
  const naive = stack.node('naive', { ...env, PORT: String(naivePort) });
  const [url, naiveUrl] = [apiPort, naivePort].map((port) => `http://127.0.0.1:${port}`);
  const { address, namespace, taskQueue } = config.temporal;
  const polled = (queue: string) => isPolled(address, { namespace, taskQueue: queue });
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  await stack.until('worker', () => polled(taskQueue));
  await stack.until('bareWorker', () => polled(BARE_QUEUE));
  await stack.until('naive', async () => (await fetch(`${naiveUrl}/`)).status === 401);
  const shared = { client: process.pid, bank: bank.pid };
  return {
    versions: { MongoDB: mongod.version, 'Temporal CLI': temporal.version },
    stopPeers: async () => void (await Promise.all([bare.stop(GRACE_MS), naive.stop(GRACE_MS)])),
    env,
    shared,
    config,
    url: String(url),
    naiveUrl: String(naiveUrl),
    ours: {
      ...shared,
      api: api.pid,
      worker: worker.pid,
      mongod: mongod.pid,
      temporal: temporal.pid,
    },
    bare: { ...shared, worker: bare.pid, temporal: temporal.pid },
    naive: { ...shared, api: naive.pid, mongod: mongod.pid },
  };
}

/**
 * Bursar as one process, beside the other one on the same engines, with a database and a namespace of its own. Its client learns
 * of completions in the same way.
 */
export async function startAllInOne(
  stack: Stack,
  shared: { env: NodeJS.ProcessEnv; processes: Record<string, number> },
  mostClients: number,
) {
  const mongodbUri = new URL(shared.env['MONGODB_URI'] ?? '');
  mongodbUri.pathname = '/bursar-all-in-one';
  const env = {
    ...shared.env,
    PORT: String(await stack.freePort()),
    MONGODB_URI: mongodbUri.href,
    TEMPORAL_NAMESPACE: 'bursar-all-in-one',
  };
  const config = loadConfig(env);
  const { pid } = stack.node('allInOne', env);
  const url = `http://127.0.0.1:${env.PORT}`;
  await stack.until('allInOne', () => answers(`${url}/health/ready`));
  const { subject, close } = await createOwnSubject(
    config,
    { api: pid, ...shared.processes },
    poolOf(url, mostClients),
  );
  return { subjects: { 'one process': subject }, close };
}

/** Sends transfers of a tenant that has all the money it needs, and waits until the database says that they are completed. */
async function createOwnSubject(config: Config, processes: Record<string, number>, pool: Pool) {
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const { key } = await createRichTenant(config, database, createGroupCommit(database));
  const completions = watchCompletions(database.db);
  const subject: TransferSubject = {
    processes,
    async act(postMs) {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
      const answer = await timed(postMs, () =>
        post(pool, '/api/v1/transfers', headers, nextBody()),
      );
      await completions.of((answer as { data: { id: string } }).data.id);
    },
  };
  return {
    subject,
    close: async () => {
      await completions.close();
      await pool.close();
      await database.client.close();
    },
  };
}

/** Creates Bursar and its peers with the same bank, adapter, requests, durability and number of clients. */
export async function createTransferSubjects(stack: Stack, mostClients: number) {
  const { env, shared, config, url, naiveUrl, versions, stopPeers, ...processes } =
    await start(stack);
  const temporal = createTemporal(config.temporal);
  const pools = [url, naiveUrl].map((origin) => poolOf(origin, mostClients));
  const [ourPool, naivePool] = pools as [Pool, Pool];
  const own = await createOwnSubject(config, processes.ours, ourPool);
  const subjects = {
    ours: own.subject,
    bare: {
      processes: processes.bare,
      async act() {
        const request = nextBody();
        await temporal.client.workflow.execute('peerTransfer', {
          taskQueue: BARE_QUEUE,
          workflowId: `peer/${request.reference}`,
          args: [request],
        });
      },
    },
    naive: {
      processes: processes.naive,
      async act(postMs) {
        const headers = { authorization: `Bearer ${config.sandboxBank?.secret}` };
        await timed(postMs, () => post(naivePool, '/transfers', headers, nextBody()));
      },
    },
  } satisfies Record<string, TransferSubject>;
  return {
    subjects,
    versions,
    /** For subjects that use the same bank. */
    shared: { env, bankSecret: config.sandboxBank?.secret ?? '', processes: shared },
    engines: { mongod: processes.ours.mongod, temporal: processes.ours.temporal },
    /** For benches that measure only Bursar. */
    stopPeers,
    close: async () => {
      await own.close();
      await naivePool.close();
      await temporal.close();
    },
  };
}

/** A pool of connections to this origin, one request at a time on each. */
export const poolOf = (origin: string, connections: number) =>
  new Pool(origin, { connections, pipelining: 1 });

/** Appends the time of `act` to `postMs`. */
export async function timed<Result>(postMs: number[], act: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await act();
  postMs.push(performance.now() - began);
  return result;
}

let count = 0;
/** The body of the next transfer of this process. */
export const nextBody = () => transferBody((count += 1));

/** Posts JSON and returns the answer; throws if its status is not `expected`. */
export async function post(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  request: object,
  expected = 201,
): Promise<unknown> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const text = await body.text();
  if (statusCode !== expected) throw new Error(`${path} answered ${statusCode}: ${text}`);
  return JSON.parse(text) as unknown;
}
