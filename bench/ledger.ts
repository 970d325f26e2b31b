/**
 * Measures the closing of days and `ledger verify` for one, two and three million postings: the time for each million, and the
 * memory. `--millions N` measures fewer or more.
 */
import { audits } from '../src/composition/capabilities.js';
import { migrations } from '../src/composition/migrations.js';
import { rebuildCounts } from '../src/capabilities/transfers/counts.js';
import { newTransfer } from '../src/capabilities/transfers/create.js';
import { holdOf } from '../src/core/outgoing-payments/outgoing-payment.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import { creditWallet } from '../src/capabilities/wallets/create.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { ledgerCollections } from '../src/core/commit/store.js';
import { auditLedger } from '../src/core/ledger/audit.js';
import { readBalance } from '../src/core/ledger/balance.js';
import { startOfDay } from '../src/core/ledger/days.js';
import { lagosDay } from '../src/core/ledger/wallet.js';
import { closeDueDays } from '../src/core/ledger/closing.js';
import { type Posting, capturePosting, holdPosting } from '../src/core/ledger/posting.js';
import { connectDatabase, type Database } from '../src/platform/database/client.js';
import { migrate } from '../src/platform/database/migrations.js';
import { createTenants } from '../src/platform/tenants/store.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import { environmentOf, openStack, type Stack } from './stack.js';
import {
  isShort,
  oneDigit,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  whole,
} from './support.js';
import { transferBody } from './transfers.js';

const given = process.argv.indexOf('--millions');
const SIZES = given === -1 ? 3 : Number(process.argv[given + 1]);
/** Postings between two measurements. */
const MILLION = isShort ? 10_000 : 1_000_000;
const TENANTS = 10;
const DAYS_PER_MILLION = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const INSERT = 5_000;
const CREDIT_MINOR = 1_000_000_000_000n;

type Subject = { database: Database; tenants: Tenant[] };

async function start(stack: Stack): Promise<Subject & { version: string }> {
  const mongod = await stack.mongod();
  const unusedPort = await stack.freePort();
  const { config } = environmentOf(stack, {
    mongodbUri: mongod.uri,
    temporalAddress: `127.0.0.1:${unusedPort}`,
    bankPort: unusedPort,
    apiPort: unusedPort,
  });
  const database = await connectDatabase(config.mongodb, 'bursar-bench', { operationLimitMs: 0 });
  // A tenth of MongoDB's default: a verification that needs one moment for all its reads would fail.
  const history = { setParameter: 1, minSnapshotHistoryWindowInSeconds: 30 };
  await database.client.db('admin').command(history);
  await migrate(database.db, migrations);
  const groupCommit = createGroupCommit(database);
  const store = createTenants({ db: database.db, environment: config.environment });
  const tenants: Tenant[] = [];
  while (tenants.length < TENANTS) {
    const tenant = await store.create({ name: 'Bench', plan: 'enterprise' });
    const credit = { tenantId: tenant.id, amountMinor: CREDIT_MINOR, reference: 'bench' };
    await creditWallet(groupCommit, credit);
    tenants.push(tenant);
  }
  const before = new Date(Date.now() - (DAYS_PER_MILLION * SIZES + 5) * DAY_MS);
  await database.db.collection('postings').updateMany({}, { $set: { at: before } });
  return { database, tenants, version: mongod.version };
}

const stored = ({ id, tenantId, at, legs }: Posting) => ({
  _id: id,
  tenant_id: tenantId,
  at,
  legs: legs.map(({ account, amountMinor }) => ({ account, amount_minor: amountMinor })),
});

/** A completed transfer with its two postings, as the commits of its life leave them. */
function completed(tenant: Tenant, number: number, now: Date) {
  const body = { ...transferBody(number), currency: 'NGN' as const };
  const named = { kind: 'found', name: 'ADAEZE OKAFOR', bankName: 'GTBank' } as const;
  const amountMinor = 10_000n + BigInt((number * 7_919) % 100_000);
  const made = newTransfer({
    tenant,
    body,
    amountMinor,
    named,
    provider: 'sandbox-bank',
    now,
    startWithinMs: 0,
  });
  const transfer: Transfer = { ...made, status: 'completed', submissions: 1, next_check_at: null };
  const hold = holdOf(transfer);
  return { transfer, postings: [holdPosting(hold), capturePosting(hold, now)].map(stored) };
}

/** Adds a million postings on the next days. They are inserted directly, because the bench measures reading. */
async function seed({ database, tenants }: Subject, million: number): Promise<void> {
  const fast = { writeConcern: { w: 1, journal: false } } as const;
  const { wallets } = ledgerCollections(database.db);
  const [records, postings] = ['transfers', 'postings'].map((name) =>
    database.db.collection<{ _id: string }>(name, fast),
  );
  // The beginning of a day, so that no day of the books is in two parts.
  const daysAgo = DAYS_PER_MILLION * (SIZES - million) + 3;
  const first = startOfDay(lagosDay(new Date(Date.now() - daysAgo * DAY_MS))).getTime();
  const count = MILLION / 2;
  const spent = new Map<string, bigint>();
  for (let at = 0; at < count; at += INSERT) {
    const batch = Array.from({ length: Math.min(INSERT, count - at) }, (_, i) => {
      const number = at + i;
      const now = new Date(first + Math.floor((number / count) * DAYS_PER_MILLION * DAY_MS));
      const tenant = tenants[number % TENANTS] as Tenant;
      return completed(tenant, million * count + number, now);
    });
    for (const { transfer } of batch) {
      const { tenant_id: tenantId, total_minor: total } = transfer;
      spent.set(tenantId, (spent.get(tenantId) ?? 0n) + total);
    }
    await records?.insertMany(
      batch.map((each) => each.transfer),
      { ordered: false },
    );
    await postings?.insertMany(
      batch.flatMap((each) => each.postings),
      { ordered: false },
    );
    process.stderr.write(`\rmillion ${million + 1}: ${whole(2 * (at + batch.length))} postings `);
  }
  process.stderr.write('\n');
  for (const [tenantId, total] of spent) {
    await wallets.updateOne({ _id: tenantId }, { $inc: { available_minor: -total } });
  }
  await rebuildCounts(database.db);
}

/** Runs some work. Returns its time, and the most memory of this process meanwhile. */
async function timed<T>(work: () => Promise<T>): Promise<{ result: T; s: number; mb: number }> {
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 100);
  const begin = performance.now();
  const result = await work();
  const s = (performance.now() - begin) / 1000;
  clearInterval(watch);
  return { result, s, mb: most / 1024 / 1024 };
}

type Measured = { row: string[]; perMillionS: number };

async function measure(subject: Subject, millions: number): Promise<Measured> {
  const { database, tenants } = subject;
  const closing = await timed(() => closeDueDays(database.db, ''));
  const verifying = await timed(() => auditLedger(database, audits));
  const { postings, closedDays, problemsFound, problems } = verifying.result;
  if (problemsFound > 0) throw new Error(problems.slice(0, 5).join('\n'));
  const show = await timed(() => readBalance(database, tenants[0]?.id ?? ''));
  const perMillionS = verifying.s / millions;
  const row = [
    whole(postings),
    whole(closedDays),
    oneDigit(closing.s),
    oneDigit(verifying.s),
    oneDigit(perMillionS),
    whole(verifying.mb),
    oneDigit(show.s * 1000),
  ];
  return { row, perMillionS };
}

const stack = await openStack();
try {
  const subject = await start(stack);
  const measured: Measured[] = [];
  for (let million = 0; million < SIZES; million += 1) {
    await seed(subject, million);
    measured.push(await measure(subject, million + 1));
  }
  printMachine({ MongoDB: subject.version }, {});
  printTable(
    [
      'postings',
      'closed days',
      `close ${whole(MILLION)} s`,
      'verify all s',
      `verify s per ${whole(MILLION)}`,
      'RSS MB',
      'balance ms',
    ],
    measured.map(({ row }) => row),
  );
  const [first, last] = [measured[0], measured.at(-1)].map((each) => each?.perMillionS ?? NaN);
  printGoals([
    {
      what: `verify, s per ${whole(MILLION)}: all over the first`,
      measured: ratioOf([last ?? NaN], [first ?? NaN]),
      goal: { most: 1.25 },
    },
  ]);
  await subject.database.client.close();
} finally {
  await stack.stop();
}
