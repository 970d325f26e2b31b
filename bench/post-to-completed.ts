/** From POST to completed, against a bare Temporal workflow that makes the same call. See docs/performance.md. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { connectDatabase } from '../src/database/client.js';
import { isPolled } from '../src/engines/temporal.js';
import { createGroupCommit } from '../src/ledger/group-commit.js';
import { createTemporal } from '../src/temporal/client.js';
import { watchCompletions } from './completions.js';
import { measureCpu, type Processes } from './cpu.js';
import type { PeerOrder } from './peer-activities.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  closedLoop,
  interleave,
  isShort,
  median,
  oneDigit,
  percentile,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  warmUp,
  type Loop,
} from './support.js';
import { createRichTenant, transferBody } from './transfers.js';

const IN_FLIGHT = [8, 32];
const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 2_000 : 8_000;
const WARM_UP_MS = isShort ? 1_000 : 5_000;
const PEER_QUEUE = 'bench-peer';

type Run = { loop: Loop; usedMs: Record<string, number>; othersShare: number; postMs: number[] };
type Work = (pace: { clients: number; forMs: number }) => Promise<Run>;

/** Everything as `npm start` has it, and beside it the worker of the bare workflow, idle in the other's rounds. */
async function start(stack: Stack) {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const { address: temporalAddress } = temporal;
  const at = { mongodbUri: mongod.uri, temporalAddress, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const bank = stack.node('bank', env);
  const [api, worker] = [stack.node('api', env), stack.node('worker', env)];
  const peer = stack.node('peerWorker', { ...env, BENCH_PEER_QUEUE: PEER_QUEUE });
  const url = `http://127.0.0.1:${apiPort}`;
  const { address, namespace, taskQueue } = config.temporal;
  const polled = (queue: string) => isPolled(address, { namespace, taskQueue: queue });
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  await stack.until('worker', () => polled(taskQueue));
  await stack.until('peerWorker', () => polled(PEER_QUEUE));
  const shared = { client: process.pid, bank: bank.pid, temporal: temporal.pid };
  return {
    versions: { MongoDB: mongod.version, 'Temporal CLI': temporal.version },
    config,
    url,
    ours: { ...shared, api: api.pid, worker: worker.pid, mongod: mongod.pid },
    bare: { ...shared, worker: peer.pid },
  };
}

async function createSubjects(stack: Stack) {
  const { config, url, ours, bare, versions } = await start(stack);
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const { key } = await createRichTenant(config, database, createGroupCommit(database));
  const completions = watchCompletions(database.db);
  const temporal = createTemporal(config.temporal);
  const pool = new Pool(url, { connections: Math.max(...IN_FLIGHT), pipelining: 1 });
  const post = createPost(pool, key);
  return {
    ours: measured(ours, async (postMs) => {
      const began = performance.now();
      const id = await post();
      postMs.push(performance.now() - began);
      await completions.of(id);
    }),
    bare: measured(bare, async () => {
      const reference = randomUUID();
      await temporal.client.workflow.execute('peerTransfer', {
        taskQueue: PEER_QUEUE,
        workflowId: `peer/${reference}`,
        args: [peerOrder(reference)],
      });
    }),
    versions,
    close: async () => {
      await completions.close();
      await pool.close();
      await temporal.close();
      await database.client.close();
    },
  };
}

function measured(processes: Processes<string>, act: (postMs: number[]) => Promise<void>): Work {
  return async (pace) => {
    const postMs: number[] = [];
    const work = () => closedLoop({ ...pace, act: () => act(postMs) });
    const { result, ...cpu } = await measureCpu(processes, work);
    return { loop: result, ...cpu, postMs };
  };
}

let count = 0;
const nextBody = () => transferBody((count += 1));

function peerOrder(reference: string): PeerOrder {
  const body = nextBody();
  return {
    reference,
    amountMinor: body.amount_minor,
    account: body.recipient_account,
    bankCode: body.recipient_bank_code,
    narration: body.narration,
  };
}

/** POST /transfers with a key of its own; answers the transfer's id. */
function createPost(pool: Pool, key: string) {
  return async (): Promise<string> => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/api/v1/transfers',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(nextBody()),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`the API answered ${statusCode}: ${text}`);
    return (JSON.parse(text) as { data: { id: string } }).data.id;
  };
}

const perItem = (run: Run, process: string) => (run.usedMs[process] ?? NaN) / run.loop.completed;
const totalPerItem = (run: Run) =>
  Object.keys(run.usedMs).reduce((sum, process) => sum + perItem(run, process), 0);

function print(results: Record<string, Run[]>): void {
  const processes = ['client', 'api', 'worker', 'bank', 'mongod', 'temporal'];
  const head = ['in flight', 'completed/s', 'p50 ms', 'p99 ms', 'POST p50 ms', 'POST p99 ms'];
  const rows = Object.entries(results).map(([name, runs]) => {
    const of = (pick: (run: Run) => number) => median(runs.map(pick));
    const figure = (value: number) => (Number.isNaN(value) ? '' : oneDigit(value));
    const figures = [
      of((run) => run.loop.perSecond),
      of((run) => run.loop.p50Ms),
      of((run) => run.loop.p99Ms),
      of((run) => percentile(run.postMs, 50)),
      of((run) => percentile(run.postMs, 99)),
      ...processes.map((process) => of((run) => perItem(run, process))),
      of(totalPerItem),
    ];
    return [name, ...figures.map(figure)];
  });
  printTable([...head, ...processes.map((name) => `${name} CPU ms`), 'CPU ms'], rows);
  printGoals(
    IN_FLIGHT.flatMap((clients) => {
      const [ours = [], bare = []] = [results[`ours, ${clients}`], results[`bare, ${clients}`]];
      const compare = (pick: (run: Run) => number) => ratioOf(ours.map(pick), bare.map(pick));
      return [
        {
          what: `completed/s over bare, ${clients} in flight`,
          ratio: compare((run) => run.loop.perSecond),
          goal: { least: 1 },
        },
        {
          what: `CPU over bare, ${clients} in flight`,
          ratio: compare(totalPerItem),
          goal: { most: 1.3 },
        },
      ];
    }),
  );
}

const stack = await openStack();
try {
  const { ours, bare, versions, close } = await createSubjects(stack);
  const paced = (forMs: number) =>
    Object.fromEntries(
      IN_FLIGHT.flatMap((clients) => [
        [`ours, ${clients}`, () => ours({ clients, forMs })],
        [`bare, ${clients}`, () => bare({ clients, forMs })],
      ]),
    );
  await warmUp(paced(WARM_UP_MS));
  const results = await interleave(paced(FOR_MS), ROUNDS);
  printMachine(versions, results);
  print(results);
  await close();
} finally {
  await stack.stop();
}
