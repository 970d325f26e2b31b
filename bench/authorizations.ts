/**
 * Measures how long a cardholder waits for our decision at 100 authorizations a second, each sent on schedule even if
 * earlier ones are unanswered: alone, and beside a bulk transfer of the same wallet; and the rate up to which the p99 stays
 * within 100 ms. The database has a hundred thousand cards and two million payments (`--short`: few), inserted directly.
 * Requests are signed as the sandbox issuer signs them. See docs/performance.md.
 */
import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { Pool } from 'undici';
import type { Card } from '../src/capabilities/cards/record.js';
import { connectDatabase } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from '../sandbox-bank/shared/signature.js';
import { measureCpu, waitUntilIdle } from './cpu.js';
import { seedCards } from './seeded-cards.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  interleave,
  isShort,
  median,
  oneDigit,
  openLoop,
  printGoals,
  printMachine,
  printTable,
  spreadOf,
  whole,
  type Loop,
} from './support.js';
import { createRichTenant, transferBody } from './transfers.js';

const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 2_000 : 10_000;
const PER_SECOND = 100;
const SEEDED = isShort
  ? { cards: 200, authorizations: 4_000 }
  : { cards: 100_000, authorizations: 2_000_000 };
/** The transfers of the bulk transfer that runs beside the decisions: they take about as long as one measurement. */
const BULK = isShort ? 100 : 1_000;
const CONNECTIONS = 256;
const GOAL_P99_MS = 50;
/** The search for the rate at which the p99 passes this: steps of a quarter, then two halves of the last step. */
const LIMIT_P99_MS = 100;
const STEP = 1.25;
const HALVES = 2;
const STEP_MS = isShort ? 500 : 4_000;
/** More than the bench itself could send. */
const MOST_PER_SECOND = isShort ? 150 : 2_000;
/** The load before the first measurement, which compiles code and opens connections. */
const WARM_UP_MS = isShort ? 1_000 : 10_000;

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
  const card = await issueCard(stack, { url, key });
  const cards = await seedFrom(database.db, card);
  await database.client.close();
  return {
    url,
    key,
    secret: stack.secrets.bank,
    cards,
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

/** Makes the cards from one that was issued: all of them hold money in one wallet, which is the hardest case. */
async function seedFrom(db: Db, id: string): Promise<string[]> {
  const like = await db.collection<Card>('cards').findOne({ _id: id });
  if (!like) throw new Error(`${id} is not there`);
  return seedCards(db, like, SEEDED);
}

/** Issues a just-in-time card. */
async function issueCard(stack: Stack, { url, key }: { url: string; key: string }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ customer_id: 'bench-789', type: 'virtual', funding: 'jit' });
  const made = await fetch(`${url}/api/v1/cards`, { method: 'POST', headers, body });
  const { data } = (await made.json()) as { data: { id: string } };
  await stack.until(`card ${data.id}`, async () => {
    const answer = await fetch(`${url}/api/v1/cards/${data.id}`, { headers });
    return ((await answer.json()) as { data: { status: string } }).data.status === 'active';
  });
  return data.id;
}

type Started = Awaited<ReturnType<typeof start>>;

/** Pays with one of the cards. False if it is declined because the deadline has passed; any other failure ends the bench. */
function createPayer({ url, secret, cards }: Started) {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  let count = 0;
  return {
    close: () => pool.close(),
    pay: async (): Promise<boolean> => {
      count += 1;
      // Cards far apart in the order of their making, so that nothing of the last one is in a cache.
      const sent = signed(secret, cards[(count * 7_919) % cards.length] ?? '');
      const path = '/api/v1/webhooks/cards/sandbox-bank';
      const { statusCode, body } = await pool.request({ method: 'POST', path, ...sent });
      const text = await body.text();
      const { approved, code } = JSON.parse(text) as { approved?: boolean; code?: string };
      if (code === 'deadline_exceeded') return false;
      if (approved !== true) throw new Error(`answered ${statusCode}: ${text}`);
      return true;
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

type Pay = () => Promise<boolean>;
/** A load, and the payments in it that were declined for the deadline. */
type Load = { loop: Loop; declined: number };
/** Beside a bulk transfer: whether that was under way until the end of the load. */
type BesideLoad = Load & { outlasted?: boolean };
/** `load`: null if no rate stays within the limit. */
type Run = { load: BesideLoad | null; othersShare: number };

/** The load at this rate. Its times include those of declines. */
async function loadAt(rate: number, forMs: number, pay: Pay): Promise<Load> {
  let declined = 0;
  const act = async () => {
    if (!(await pay())) declined += 1;
  };
  const loop = await openLoop({ rate, forMs, act });
  return { loop, declined };
}

/** Accepts a bulk transfer of the wallet of the cards, and returns the ids of its transfers while they are under way. */
async function sendBulk({ url, key }: Started): Promise<string[]> {
  const transfers = Array.from({ length: BULK }, () => transferBody((sent += 1)));
  const answer = await fetch(`${url}/api/v1/transfers/bulk`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ transfers }),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`the API answered ${answer.status}: ${text}`);
  const { items } = (JSON.parse(text) as { data: { items: { id?: string }[] } }).data;
  return items.flatMap(({ id }) => id ?? []);
}
let sent = 0;

/** True if one of these transfers has not ended. */
async function isUnderWay({ url, key }: Started, ids: readonly string[]): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  // The last ones end last.
  for (const id of ids.toReversed()) {
    const answer = await fetch(`${url}/api/v1/transfers/${id}`, { headers });
    const { status } = ((await answer.json()) as { data: { status: string } }).data;
    if (status === 'pending' || status === 'processing') return true;
  }
  return false;
}

/** True if the p99 is within the limit, and nothing was declined for the deadline. */
const isWithin = ({ loop, declined }: Load) => loop.p99Ms <= LIMIT_P99_MS && declined === 0;

/** The load at the highest rate that stays within the limit; null if the first one does not. */
async function findLimit(pay: Pay): Promise<Load | null> {
  const at = async (rate: number): Promise<Load> => {
    await waitUntilIdle({ withinMs: 5_000 });
    return loadAt(rate, STEP_MS, pay);
  };
  let within = PER_SECOND;
  let best = await at(within);
  if (!isWithin(best)) return null;
  let beyond = within * STEP;
  for (; beyond < MOST_PER_SECOND; beyond *= STEP) {
    const load = await at(beyond);
    if (!isWithin(load)) break;
    [within, best] = [beyond, load];
  }
  for (let half = 0; half < HALVES; half += 1) {
    const rate = (within + beyond) / 2;
    const load = await at(rate);
    if (isWithin(load)) [within, best] = [rate, load];
    else beyond = rate;
  }
  return best;
}

function print(results: Record<string, Run[]>): void {
  const loads = (name: string) => (results[name] ?? []).flatMap(({ load }) => load ?? []);
  const of = (name: string, what: keyof Loop) => loads(name).map(({ loop }) => loop[what]);
  const cell = (figures: number[], format: (value: number) => string) =>
    figures.length === 0 ? 'none' : format(median(figures));
  printTable(
    ['decisions', 'a second', 'p50 ms', 'p99 ms'],
    Object.keys(results).map((name) => [
      name,
      cell(of(name, 'perSecond'), whole),
      cell(of(name, 'p50Ms'), oneDigit),
      cell(of(name, 'p99Ms'), oneDigit),
    ]),
  );
  const p99 = (name: string) => ({
    what: `p99, ${name}`,
    measured: spreadOf(of(name, 'p99Ms')),
    unit: 'ms' as const,
    goal: { most: GOAL_P99_MS },
  });
  const declined = (name: string) => ({
    what: `declined for the deadline, ${name}`,
    measured: spreadOf(loads(name).map((load) => load.declined)),
    unit: 'count' as const,
    goal: { most: 0 },
  });
  const limits = of(LIMIT, 'perSecond');
  const limit = { what: LIMIT, measured: spreadOf(limits), unit: '/s' as const, goal: null };
  const goals = [p99(ALONE), p99(BESIDE), declined(ALONE), declined(BESIDE)];
  printGoals(limits.length === 0 ? goals : [...goals, limit]);
  const rounds = results[LIMIT]?.length ?? 0;
  if (limits.length < rounds) {
    console.log(`${LIMIT}: none, in ${rounds - limits.length} of ${rounds} rounds`);
  }
  const short = loads(BESIDE).filter(({ outlasted }) => outlasted !== true).length;
  console.log(
    short === 0
      ? 'The bulk transfer was under way until the end of each load beside it.'
      : `The bulk transfer ENDED BEFORE THE LOAD beside it in ${short} of ${rounds} rounds: that load was partly alone.`,
  );
}

const ALONE = `${PER_SECOND} a second`;
const BESIDE = `${PER_SECOND} a second, beside a bulk transfer of the wallet`;
const LIMIT = `most with a p99 within ${LIMIT_P99_MS} ms`;

async function main(): Promise<void> {
  const stack = await openStack();
  try {
    const started = await start(stack);
    const payer = createPayer(started);
    const alone = () => loadAt(PER_SECOND, FOR_MS, payer.pay);
    const measured = (work: () => Promise<BesideLoad | null>) => async (): Promise<Run> => {
      const { result: load, othersShare } = await measureCpu(started.processes, work);
      return { load, othersShare };
    };
    const beside = async (): Promise<BesideLoad> => {
      const ids = await sendBulk(started);
      const load = await alone();
      return { ...load, outlasted: await isUnderWay(started, ids) };
    };
    const subjects = {
      [ALONE]: measured(alone),
      [BESIDE]: measured(beside),
      [LIMIT]: measured(() => findLimit(payer.pay)),
    };
    await loadAt(PER_SECOND, WARM_UP_MS, payer.pay);
    const results = await interleave(subjects, ROUNDS);
    printMachine(started.versions, results);
    print(results);
    console.log(`${whole(SEEDED.cards)} cards, ${whole(SEEDED.authorizations)} payments`);
    await payer.close();
  } finally {
    await stack.stop();
  }
}

await main();
