/**
 * Measures the fixed cost of a request: key, limit, validation and envelope against a bare Koa with the same query; a
 * replay against a first request; a refusal against an answer. See docs/performance.md.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { createApiKeys } from '../src/platform/api-keys/store.js';
import type { Config } from '../src/shared/config.js';
import { connectDatabase, type Database } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { createLog } from '../src/shared/log.js';
import { createTenants } from '../src/platform/tenants/store.js';
import type { BareAnswer, BareQuestion } from './bare-server.js';
import { startChild } from './child.js';
import { measureCpu, type Processes } from './cpu.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  closedLoop,
  interleave,
  isShort,
  median,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  warmUp,
  whole,
  type Loop,
} from './support.js';
import { createRichTenant, transferBody } from './transfers.js';

const ROUNDS = isShort ? 1 : 7;
const FOR_MS = isShort ? 1_000 : 4_000;
/** One at a time, to compare the path of a single request without a queue. */
const GET_CLIENTS = 1;
const POST_CLIENTS = 16;
const TRANSFERS = 500;

type Run = { loop: Loop; usedMs: Record<string, number>; othersShare: number };
type Call = {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

async function start(stack: Stack) {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const at = { mongodbUri: mongod.uri, temporalAddress: temporal.address, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  stack.node('bank', env);
  const { pid } = stack.node('api', env);
  const url = `http://127.0.0.1:${apiPort}`;
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const { tenant, key } = await createRichTenant(config, database, createGroupCommit(database));
  const bare = startChild<BareQuestion, BareAnswer>('./bare-server.js');
  const { uri, database: name } = config.mongodb;
  const { url: bareUrl } = await bare.request({ uri, database: name, tenant: tenant.id });
  return {
    url,
    key,
    poorKey: await createPoorKey(config, database),
    bareUrl,
    ours: { api: pid, mongod: mongod.pid, client: process.pid },
    bare: { api: bare.pid, mongod: mongod.pid, client: process.pid },
    versions: { MongoDB: mongod.version, 'Temporal CLI': temporal.version },
    async close() {
      await bare.stop();
      await database.client.close();
    },
  };
}

/** A key with one request a minute: all others are refused. */
async function createPoorKey({ keyPeppers: peppers, environment }: Config, { db }: Database) {
  const tenants = createTenants({ db, environment });
  const { id } = await tenants.create({ name: 'Poor', plan: 'enterprise', ratePerMinute: 1 });
  const log = createLog({ level: 'silent', name: 'bench' });
  const apiKeys = createApiKeys({ db, peppers, environment, tenants, log });
  return (await apiKeys.create({ tenantId: id, level: 'read', kind: 'secret' })).key;
}

/** Sends the requests of `next`, and rejects any status that is not listed. */
function caller(url: string, connections: number, statuses: readonly number[]) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  return {
    close: () => pool.close(),
    async send(call: Call): Promise<string> {
      const { statusCode, body } = await pool.request(call);
      const text = await body.text();
      if (!statuses.includes(statusCode)) throw new Error(`answered ${statusCode}: ${text}`);
      return text;
    },
  };
}

let count = 0;

function firstTime(key: string): Call {
  count += 1;
  return {
    method: 'POST',
    path: '/api/v1/transfers',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(transferBody(count)),
  };
}

function measured(
  processes: Processes<string>,
  clients: number,
  act: () => Promise<unknown>,
): () => Promise<Run> {
  return async () => {
    const work = () => closedLoop({ clients, forMs: FOR_MS, act });
    const { result, ...cpu } = await measureCpu(processes, work);
    return { loop: result, ...cpu };
  };
}

async function createSubjects(started: Awaited<ReturnType<typeof start>>) {
  const { url, bareUrl, key, poorKey, ours, bare } = started;
  const posts = caller(url, POST_CLIENTS, [201]);
  const gets = caller(url, GET_CLIENTS, [200]);
  // The first request of each minute passes the limit; it reads another tenant's transfer.
  const refused = caller(url, GET_CLIENTS, [429, 404]);
  const others = caller(bareUrl, GET_CLIENTS, [200]);
  const made = Array.from({ length: TRANSFERS }, () => firstTime(key));
  const ids: string[] = [];
  for (const call of made) {
    const { data } = JSON.parse(await posts.send(call)) as { data: { id: string } };
    ids.push(data.id);
  }
  let turn = 0;
  const next = <T>(list: readonly T[]) => list[(turn += 1) % list.length] as T;
  const get = (path: string, bearer?: string): Call => ({
    method: 'GET',
    path: `${path}/${next(ids)}`,
    ...(bearer !== undefined && { headers: { authorization: `Bearer ${bearer}` } }),
  });
  return {
    subjects: {
      'bare Koa': measured(bare, GET_CLIENTS, () => others.send(get('/bare'))),
      'bare Koa with the limiter': measured(bare, GET_CLIENTS, () => others.send(get('/limited'))),
      GET: measured(ours, GET_CLIENTS, () => gets.send(get('/api/v1/transfers', key))),
      'GET refused by 429': measured(ours, GET_CLIENTS, () =>
        refused.send(get('/api/v1/transfers', poorKey)),
      ),
      'POST, first time': measured(ours, POST_CLIENTS, () => posts.send(firstTime(key))),
      'POST, replayed': measured(ours, POST_CLIENTS, () => posts.send(next(made))),
    },
    close: () => Promise.all([posts, gets, refused, others].map((each) => each.close())),
  };
}

const perRequestUs = (run: Run, process: string) =>
  ((run.usedMs[process] ?? NaN) / run.loop.completed) * 1000;
const p50 = (runs: readonly Run[]) => runs.map((run) => run.loop.p50Ms);
const apiUs = (runs: readonly Run[]) => runs.map((run) => perRequestUs(run, 'api'));
const perSecond = (runs: readonly Run[]) => runs.map((run) => run.loop.perSecond);

function print(results: Record<string, Run[]>): void {
  printTable(
    ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs, API', 'CPU µs, mongod'],
    Object.entries(results).map(([name, runs]) => [
      name,
      whole(median(perSecond(runs))),
      median(p50(runs)).toFixed(2),
      median(runs.map((run) => run.loop.p99Ms)).toFixed(2),
      whole(median(apiUs(runs))),
      whole(median(runs.map((run) => perRequestUs(run, 'mongod')))),
    ]),
  );
  const of = (name: string) => results[name] ?? [];
  const [bare, limited, get, refused] = [
    of('bare Koa'),
    of('bare Koa with the limiter'),
    of('GET'),
    of('GET refused by 429'),
  ];
  printGoals([
    {
      what: 'p50 of a GET over a bare Koa',
      measured: ratioOf(p50(get), p50(bare)),
      goal: { most: 1.25 },
    },
    {
      what: 'replays over first times, each second',
      measured: ratioOf(perSecond(of('POST, replayed')), perSecond(of('POST, first time'))),
      goal: { least: 2 },
    },
    {
      what: 'p50 of a 429 over a GET',
      measured: ratioOf(p50(refused), p50(get)),
      goal: { most: 1 },
    },
    {
      what: 'CPU of a 429 over a GET, API',
      measured: ratioOf(apiUs(refused), apiUs(get)),
      goal: { most: 1 },
    },
  ]);
  const [costs, costsCpu] = [
    ratioOf(p50(limited), p50(bare)),
    ratioOf(apiUs(limited), apiUs(bare)),
  ];
  console.log(
    `The limiter makes a bare GET ${costs.median.toFixed(2)} times as long, its CPU ${costsCpu.median.toFixed(2)} times.`,
  );
}

const stack = await openStack();
try {
  const started = await start(stack);
  const { subjects, close } = await createSubjects(started);
  await warmUp(subjects);
  const results = await interleave(subjects, ROUNDS);
  printMachine(started.versions, results);
  print(results);
  await close();
  await started.close();
} finally {
  await stack.stop();
}
