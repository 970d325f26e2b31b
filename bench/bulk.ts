/**
 * Compares a thousand transfers in one request with a thousand requests, from the first byte to the last completion.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { connectDatabase } from '../src/platform/database/client.js';
import { isPolled } from '../devstack/temporal.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { watchCompletions } from './completions.js';
import { measureCpu, type Processes } from './cpu.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  interleave,
  isShort,
  median,
  oneDigit,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  warmUp,
  whole,
} from './support.js';
import { createRichTenant, transferBody } from './transfers.js';

const TRANSFERS = isShort ? 200 : 1_000;
/** The last of a thousand completes late. */
const WITHIN_MS = 10 * 60_000;
/** Requests in flight, as a client in a hurry would send them. */
const CLIENTS = 32;
const ROUNDS = isShort ? 1 : 5;

type Run = {
  perSecond: number;
  answeredMs: number;
  usedMs: Record<string, number>;
  othersShare: number;
};
type Post = (path: string, body: unknown) => Promise<unknown>;

async function start(stack: Stack) {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const at = { mongodbUri: mongod.uri, temporalAddress: temporal.address, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const bank = stack.node('bank', env);
  const [api, worker] = [stack.node('api', env), stack.node('worker', env)];
  const url = `http://127.0.0.1:${apiPort}`;
  const { address, namespace, taskQueue } = config.temporal;
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  await stack.until('worker', () => isPolled(address, { namespace, taskQueue }));
  const processes = {
    client: process.pid,
    api: api.pid,
    worker: worker.pid,
    bank: bank.pid,
    mongod: mongod.pid,
    temporal: temporal.pid,
  };
  const versions = { MongoDB: mongod.version, 'Temporal CLI': temporal.version };
  return { config, url, processes, versions };
}

async function createSubjects(stack: Stack) {
  const { config, url, processes, versions } = await start(stack);
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const { key } = await createRichTenant(config, database, createGroupCommit(database));
  const completions = watchCompletions(database.db, WITHIN_MS);
  const pool = new Pool(url, { connections: CLIENTS, pipelining: 1 });
  const post = createPost(pool, key);
  const all = (ids: string[]) => Promise.all(ids.map((id) => completions.of(id)));
  return {
    versions,
    bulk: measured(processes, all, () => sendTogether(post)),
    singles: measured(processes, all, () => sendOneByOne(post)),
    close: async () => {
      await completions.close();
      await pool.close();
      await database.client.close();
    },
  };
}

/** `send` returns the ids of the accepted transfers; the measurement ends when all of them are completed. */
function measured(
  processes: Processes<string>,
  completed: (ids: string[]) => Promise<unknown>,
  send: () => Promise<string[]>,
) {
  return async (): Promise<Run> => {
    const { result, ...cpu } = await measureCpu(processes, async () => {
      const began = performance.now();
      const ids = await send();
      const answeredMs = performance.now() - began;
      await completed(ids);
      return { answeredMs, perSecond: (ids.length / (performance.now() - began)) * 1_000 };
    });
    return { ...result, ...cpu };
  };
}

let count = 0;
const nextBody = () => transferBody((count += 1));

async function sendTogether(post: Post): Promise<string[]> {
  const transfers = Array.from({ length: TRANSFERS }, nextBody);
  const { items } = (await post('/transfers/bulk', { transfers })) as { items: { id?: string }[] };
  return items.map(({ id }) => {
    if (id === undefined) throw new Error('an item was refused');
    return id;
  });
}

async function sendOneByOne(post: Post): Promise<string[]> {
  const ids: string[] = [];
  let left = TRANSFERS;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      ids.push(((await post('/transfers', nextBody())) as { id: string }).id);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return ids;
}

function createPost(pool: Pool, key: string): Post {
  return async (path, json) => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(json),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`the API answered ${statusCode}: ${text}`);
    return (JSON.parse(text) as { data: unknown }).data;
  };
}

const PROCESSES = ['client', 'api', 'worker', 'bank', 'mongod', 'temporal'];

function print(results: Record<'bulk' | 'singles', Run[]>): void {
  const rows = Object.entries(results).map(([name, runs]) => {
    const of = (pick: (run: Run) => number) => median(runs.map(pick));
    return [
      name,
      whole(of((run) => run.perSecond)),
      whole(of((run) => run.answeredMs)),
      ...PROCESSES.map((each) => oneDigit(of((run) => (run.usedMs[each] ?? NaN) / TRANSFERS))),
    ];
  });
  const cpu = PROCESSES.map((name) => `${name} CPU ms`);
  printTable([`${TRANSFERS} transfers`, 'completed/s', 'all answered ms', ...cpu], rows);
  const perSecond = (runs: Run[]) => runs.map((run) => run.perSecond);
  printGoals([
    {
      what: 'completed/s, bulk over singles',
      measured: ratioOf(perSecond(results.bulk), perSecond(results.singles)),
      goal: { least: 2 },
    },
  ]);
}

const stack = await openStack();
try {
  const { bulk, singles, versions, close } = await createSubjects(stack);
  await warmUp({ bulk, singles });
  const results = await interleave({ bulk, singles }, ROUNDS);
  printMachine(versions, results);
  print(results);
  await close();
} finally {
  await stack.stop();
}
