/**
 * Measures how long a cardholder waits for our decision at 100 authorizations a second, each sent on schedule even if
 * earlier ones are unanswered; and the highest rate. Requests are signed as the sandbox issuer signs them, and each
 * approval starts a workflow, as in production. See docs/performance.md.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { connectDatabase } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from '../sandbox-bank/shared/signature.js';
import { measureCpu } from './cpu.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  closedLoop,
  interleave,
  isShort,
  median,
  oneDigit,
  openLoop,
  printGoals,
  printMachine,
  printTable,
  spreadOf,
  warmUp,
  whole,
  type Loop,
} from './support.js';
import { createRichTenant } from './transfers.js';

const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 2_000 : 20_000;
const PER_SECOND = 100;
const CLIENTS = 32;
const CARDS = 20;
const CONNECTIONS = 64;
const GOAL_P99_MS = 50;

async function start(stack: Stack) {
  const [mongod, temporal] = await Promise.all([stack.mongod(), stack.temporal()]);
  const [bankPort, apiPort] = [await stack.freePort(), await stack.freePort()];
  const at = { mongodbUri: mongod.uri, temporalAddress: temporal.address, bankPort, apiPort };
  const { env, config } = environmentOf(stack, at);
  const url = `http://127.0.0.1:${apiPort}`;
  const bank = stack.node('bank', env);
  const api = stack.node('api', env);
  const worker = stack.node('worker', env);
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`${url}/health/ready`));
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const { key } = await createRichTenant(config, database, createGroupCommit(database));
  const cards = await Promise.all(
    Array.from({ length: CARDS }, (_, n) => issueCard(stack, { url, key }, n)),
  );
  const issued = await database.db
    .collection<{ _id: string; issued: { issuer_card_id: string } }>('cards')
    .find({ _id: { $in: cards } })
    .toArray();
  await database.client.close();
  return {
    url,
    secret: stack.secrets.bank,
    cards: issued.map((card) => card.issued.issuer_card_id),
    processes: {
      api: api.pid,
      worker: worker.pid,
      bank: bank.pid,
      mongod: mongod.pid,
      temporal: temporal.pid,
      client: process.pid,
    },
    versions: { MongoDB: mongod.version, 'Temporal CLI': temporal.version },
  };
}

/** Creates just-in-time cards of one tenant: all of them hold money in one wallet, which is the hardest case. */
async function issueCard(stack: Stack, { url, key }: { url: string; key: string }, n: number) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ customer_id: `bench-${n}-789`, type: 'virtual', funding: 'jit' });
  const made = await fetch(`${url}/api/v1/cards`, { method: 'POST', headers, body });
  const { data } = (await made.json()) as { data: { id: string } };
  await stack.until(`card ${data.id}`, async () => {
    const answer = await fetch(`${url}/api/v1/cards/${data.id}`, { headers });
    return ((await answer.json()) as { data: { status: string } }).data.status === 'active';
  });
  return data.id;
}

type Started = Awaited<ReturnType<typeof start>>;

/** Pays with one of the cards. Declines for a passed deadline are counted; any other failure ends the bench. */
function createPayer({ url, secret, cards }: Started) {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  let count = 0;
  let late = 0;
  return {
    late: () => late,
    close: () => pool.close(),
    pay: async (): Promise<void> => {
      count += 1;
      const sent = signed(secret, cards[count % cards.length] ?? '');
      const path = '/api/v1/webhooks/cards/sandbox-bank';
      const { statusCode, body } = await pool.request({ method: 'POST', path, ...sent });
      const text = await body.text();
      const { approved, code } = JSON.parse(text) as { approved?: boolean; code?: string };
      if (code === 'deadline_exceeded') late += 1;
      else if (approved !== true) throw new Error(`answered ${statusCode}: ${text}`);
    },
  };
}

function signed(secret: string, card: string) {
  const token = `auth_${randomUUID().replaceAll('-', '')}`;
  const at = new Date().toISOString();
  const body = JSON.stringify({
    id: token,
    event: 'card.authorization_requested',
    occurred_at: at,
    data: {
      reference: token,
      card,
      amount_minor: 5_000,
      currency: 'NGN',
      channel: 'pos',
      merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
      requested_at: at,
    },
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'content-type': 'application/json',
    [TIMESTAMP_HEADER]: timestamp,
    [SIGNATURE_HEADER]: sign(secret, timestamp, body),
  };
  return { headers, body };
}

type Run = { loop: Loop; othersShare: number };

function print(results: Record<string, Run[]>): void {
  const medianOf = (runs: readonly Run[], what: keyof Loop) =>
    median(runs.map(({ loop }) => loop[what]));
  printTable(
    ['decisions', 'a second', 'p50 ms', 'p99 ms'],
    Object.entries(results).map(([name, runs]) => [
      name,
      whole(medianOf(runs, 'perSecond')),
      oneDigit(medianOf(runs, 'p50Ms')),
      oneDigit(medianOf(runs, 'p99Ms')),
    ]),
  );
  printGoals([
    {
      what: `p99 at ${PER_SECOND} a second`,
      measured: spreadOf((results[EVERY] ?? []).map(({ loop }) => loop.p99Ms)),
      unit: 'ms',
      goal: { most: GOAL_P99_MS },
    },
  ]);
}

const EVERY = `${PER_SECOND} a second`;
const MOST = `${CLIENTS} clients, as many as they can`;

async function main(): Promise<void> {
  const stack = await openStack();
  try {
    const started = await start(stack);
    const payer = createPayer(started);
    const measured = (load: () => Promise<Loop>) => async (): Promise<Run> => {
      const { result: loop, othersShare } = await measureCpu(started.processes, load);
      return { loop, othersShare };
    };
    const subjects = {
      [EVERY]: measured(() => openLoop({ rate: PER_SECOND, forMs: FOR_MS, act: payer.pay })),
      [MOST]: measured(() => closedLoop({ clients: CLIENTS, forMs: FOR_MS, act: payer.pay })),
    };
    await warmUp(subjects);
    const results = await interleave(subjects, ROUNDS);
    printMachine(started.versions, results);
    print(results);
    console.log(`Declined for the deadline, warm-up included: ${payer.late()}`);
    await payer.close();
  } finally {
    await stack.stop();
  }
}

await main();
