/**
 * Measures first pages with and without filters, with totals, and a single record, for ten thousand and a million
 * transfers, or virtual accounts: `--of virtual-accounts`.
 */
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { connectDatabase, type Database } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import { rebuildCounts } from '../src/capabilities/transfers/counts.js';
import { newTransfer } from '../src/capabilities/transfers/create.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import {
  accountCounts,
  newVirtualAccount,
  type VirtualAccount,
} from '../src/capabilities/virtual-accounts/record.js';
import { measureCpu } from './cpu.js';
import { answers, environmentOf, openStack, type Stack } from './stack.js';
import {
  closedLoop,
  interleave,
  isShort,
  median,
  oneDigit,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  spreadOf,
  warmUp,
  whole,
  type Loop,
} from './support.js';
import { createRichTenant, transferBody } from './transfers.js';

const SIZES = { small: 10_000, large: isShort ? 50_000 : 1_000_000 };
const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 500 : 2_000;
/** Few clients, so that latency shows the work and not the queue. */
const CLIENTS = 2;
const INSERT = 5_000;
const DAYS = 730;
const DAY_MS = 24 * 60 * 60 * 1000;
const NEWEST = Date.parse('2026-10-31T12:00:00Z');
const GOAL_MS = 20;

/** A month in the middle of the data. */
const MONTH = 'start_date=2025-10-01&end_date=2025-10-31';

const TRANSFER_QUERIES = {
  'first page': '',
  completed: '?status=completed',
  failed: '?status=failed',
  processing: '?status=processing',
  'a month': `?${MONTH}`,
  'completed, a month': `?status=completed&${MONTH}`,
  'oldest first': '?sort=created_at',
  'by amount': '?sort=-amount_minor',
  'failed by amount': '?status=failed&sort=amount_minor',
  'a month by amount': `?${MONTH}&sort=-amount_minor`,
  'page of 100': '?limit=100',
  'page 50': '?page=50',
};

const ACCOUNT_QUERIES = {
  'first page': '',
  active: '?status=active',
  closed: '?status=closed',
  'a month': `?${MONTH}`,
  'active, a month': `?status=active&${MONTH}`,
  'oldest first': '?sort=created_at',
  'by number': '?sort=account_number',
  'by received': '?sort=-total_received_minor',
  'closed by received': '?status=closed&sort=total_received_minor',
  'one number': '?account_number=9000000007',
  'one customer': '?customer_id=customer-7',
  'page of 100': '?limit=100',
  'page 50': '?page=50',
};

type Size = keyof typeof SIZES;
type Run = { loop: Loop; othersShare: number };
type Seeded = { key: string; ids: string[] };

/** Records are spread evenly over two years. */
const createdAt = (number: number, count: number): Date =>
  new Date(NEWEST - Math.floor((number / count) * DAYS * DAY_MS));

/** One in twenty has failed, and one in two thousand is in progress. */
function transferOf(tenant: Tenant, number: number, count: number): Transfer {
  const now = createdAt(number, count);
  const body = { ...transferBody(number), currency: 'NGN' as const };
  const amountMinor = 10_000n + BigInt((number * 7_919) % 10_000_000);
  const named = { kind: 'found', name: 'ADAEZE OKAFOR', bankName: 'GTBank' } as const;
  const given = { tenant, body, amountMinor, named, provider: 'sandbox-bank', now };
  const made = newTransfer({ ...given, startWithinMs: 0 });
  const status =
    number % 2_000 === 7 ? 'processing' : number % 20 === 3 ? 'failed' : ('completed' as const);
  return { ...made, status, submissions: 1, next_check_at: null };
}

/** One in twenty is closed. A customer has ten of them. */
function accountOf(tenant: Tenant, number: number, count: number): VirtualAccount {
  const made = newVirtualAccount(
    {
      tenantId: tenant.id,
      provider: 'sandbox-bank',
      customer: { id: `customer-${Math.floor(number / 10)}`, name: null, email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    createdAt(number, count),
  );
  return {
    ...made,
    state: number % 20 === 3 ? 'closed' : 'active',
    status: 'completed',
    account_number: String(9_000_000_000 + number),
    total_received_minor: BigInt((number * 7_919) % 10_000_000),
    next_check_at: null,
  };
}

async function countAccounts({ db }: Database): Promise<void> {
  const accounts = db.collection<VirtualAccount>('virtual_accounts');
  const changes = await accounts
    .find({}, { projection: { tenant_id: 1, created_at: 1, state: 1 } })
    .map((account) => accountCounts.changesOf(account, null, account.state))
    .toArray();
  const { counter } = accountCounts;
  const updates = counter.sum(changes.flat()).map((change) => counter.update(change));
  await db.collection(counter.name).bulkWrite(updates);
}

/** The records whose lists are measured. `count` makes the counts from the records. */
type Listed = {
  path: string;
  collection: string;
  queries: Readonly<Record<string, string>>;
  recordOf: (tenant: Tenant, number: number, count: number) => { _id: string };
  count: (database: Database) => Promise<void>;
};

const LISTED: Readonly<Record<string, Listed>> = {
  transfers: {
    path: '/api/v1/transfers',
    collection: 'transfers',
    queries: TRANSFER_QUERIES,
    recordOf: transferOf,
    count: ({ db }) => rebuildCounts(db),
  },
  'virtual-accounts': {
    path: '/api/v1/virtual-accounts',
    collection: 'virtual_accounts',
    queries: ACCOUNT_QUERIES,
    recordOf: accountOf,
    count: countAccounts,
  },
};

/** Inserts records directly, because the bench measures reading; the counts are made from the records afterwards. */
async function seed(
  { db }: Database,
  tenant: Tenant,
  { collection: name, recordOf }: Listed,
  count: number,
): Promise<string[]> {
  const options = { writeConcern: { w: 1, journal: false } } as const;
  const collection = db.collection<{ _id: string }>(name, options);
  const ids: string[] = [];
  for (let at = 0; at < count; at += INSERT) {
    const batch = Array.from({ length: Math.min(INSERT, count - at) }, (_, i) =>
      recordOf(tenant, at + i, count),
    );
    await collection.insertMany(batch, { ordered: false });
    ids.push(batch[0]?._id ?? '');
    process.stderr.write(`\r${whole(at + batch.length)} of ${whole(count)} `);
  }
  process.stderr.write('\n');
  return ids;
}

async function start(stack: Stack, listed: Listed) {
  const mongod = await stack.mongod();
  const apiPort = await stack.freePort();
  const unusedPort = await stack.freePort();
  const { env, config } = environmentOf(stack, {
    mongodbUri: mongod.uri,
    temporalAddress: `127.0.0.1:${unusedPort}`,
    bankPort: unusedPort,
    apiPort,
  });
  const { pid } = stack.node('api', env);
  const url = `http://127.0.0.1:${apiPort}`;
  await stack.until('api', () => answers(`${url}/health/ready`));
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const groupCommit = createGroupCommit(database);
  const seeded = {} as Record<Size, Seeded>;
  for (const [size, count] of Object.entries(SIZES) as [Size, number][]) {
    const { tenant, key } = await createRichTenant(config, database, groupCommit);
    seeded[size] = { key, ids: await seed(database, tenant, listed, count) };
  }
  await listed.count(database);
  const processes = { client: process.pid, api: pid, mongod: mongod.pid };
  return { url, seeded, database, processes, versions: { MongoDB: mongod.version } };
}

function createSubjects(
  { url, seeded, processes }: Awaited<ReturnType<typeof start>>,
  { path, queries }: Listed,
) {
  const pool = new Pool(url, { connections: CLIENTS, pipelining: 1 });
  const measured = (key: string, pathOf: () => string) => async (): Promise<Run> => {
    const act = async () => {
      const headers = { authorization: `Bearer ${key}` };
      const { statusCode, body } = await pool.request({ method: 'GET', path: pathOf(), headers });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`the API answered ${statusCode}: ${text}`);
    };
    const work = () => closedLoop({ clients: CLIENTS, forMs: FOR_MS, act });
    const { result, ...cpu } = await measureCpu(processes, work);
    return { loop: result, ...cpu };
  };
  const subjects: Record<string, () => Promise<Run>> = {};
  for (const [size, { key, ids }] of Object.entries(seeded)) {
    for (const [name, query] of Object.entries(queries)) {
      subjects[`${name}, ${size}`] = measured(key, () => `${path}${query}`);
    }
    let turn = 0;
    subjects[`get, ${size}`] = measured(key, () => {
      turn += 1;
      return `${path}/${ids[turn % ids.length]}`;
    });
  }
  return { subjects, close: () => pool.close() };
}

function print(results: Record<string, Run[]>, { queries }: Listed): void {
  const p99 = (runs: readonly Run[]) => runs.map((run) => run.loop.p99Ms);
  const of = (name: string, size: Size) => results[`${name}, ${size}`] ?? [];
  const names = [...Object.keys(queries), 'get'];
  printTable(
    ['', `p99 ms of ${whole(SIZES.small)}`, `of ${whole(SIZES.large)}`, 'p50 ms'],
    names.map((name) => {
      const large = median(p99(of(name, 'large')));
      return [
        name,
        oneDigit(median(p99(of(name, 'small')))),
        oneDigit(large),
        oneDigit(median(of(name, 'large').map((run) => run.loop.p50Ms))),
      ];
    }),
  );
  printGoals(
    names.flatMap((name) => [
      {
        what: `${name}: p99 of ${whole(SIZES.large)}`,
        measured: spreadOf(p99(of(name, 'large'))),
        unit: 'ms',
        goal: { most: GOAL_MS },
      },
      {
        what: `${name}: p99 of ${whole(SIZES.large)} over ${whole(SIZES.small)}`,
        measured: ratioOf(p99(of(name, 'large')), p99(of(name, 'small'))),
        goal: { most: 1.5 },
      },
    ]),
  );
}

const { values } = parseArgs({
  strict: false,
  options: { of: { type: 'string', default: 'transfers' } },
});
const listed = LISTED[String(values.of)];
if (!listed) throw new Error(`--of: one of ${Object.keys(LISTED).join(', ')}`);

const stack = await openStack();
try {
  const started = await start(stack, listed);
  const { subjects, close } = createSubjects(started, listed);
  await warmUp(subjects);
  const results = await interleave(subjects, ROUNDS);
  printMachine(started.versions, results);
  print(results, listed);
  await close();
  await started.database.client.close();
} finally {
  await stack.stop();
}
