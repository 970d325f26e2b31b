import { setTimeout as sleep } from 'node:timers/promises';
import { createStatementStore, statementMatcher } from '../../src/composition/reconciliation.js';
import { UNOWNED } from '../../src/capabilities/deposits/record.js';
import type { PostingDocument } from '../../src/core/ledger/collections.js';
import { accounts } from '../../src/core/ledger/posting.js';
import { createCallRates, type CallRates } from '../../src/core/providers/call-rates.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import type { TransferProvider } from '../../src/core/providers/transfer-provider.js';
import { createBreaks } from '../../src/core/reconciliation/breaks.js';
import { readStatementPage } from '../../src/core/reconciliation/statement-days.js';
import type { StatementPosition } from '../../src/core/reconciliation/workflow-contract.js';
import { createTenants } from '../../src/platform/tenants/store.js';
import { newId } from '../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { banksFor, never, settingsFor, startFake } from './support.js';

const HOUR_MS = 3_600_000;
/** The present day is over by this clock, and the day before it is the first of the two that are read. */
const clock = () => new Date(Date.now() + 25 * HOUR_MS + 1);
const DAYS = 2;
const AMOUNT = 1_250_000n;
const OPEN = { status: 'open', limit: 10 } as const;

let fake: Awaited<ReturnType<typeof startFake>>;
let provider: TransferProvider;
let database: TestDatabase;

beforeEach(async () => {
  fake = await startFake({ balance: 500_000_000 });
  const settings = settingsFor(fake.url);
  provider = createPaystackTransfers(settings, banksFor(settings));
  database = await openTestDatabase();
});
afterEach(async () => {
  await fake?.close();
  await database?.close();
});

/** A payment at Paystack, of which there is no record here. */
async function pay(): Promise<string> {
  const reference = newId('transfer');
  const order = {
    reference,
    clientReference: 'INV-118',
    amountMinor: AMOUNT,
    currency: 'NGN',
    recipient: { account: '0123456100', bankCode: '058', name: 'Invented Payee' },
    narration: 'Invoice 118',
    requestedAt: new Date(),
  } as const;
  const ready = await provider.prepare?.(order, never);
  if (ready?.kind !== 'ready') throw new Error('not prepared');
  await provider.submit({ ...order, handle: ready.handle }, never);
  return reference;
}

const unlimited = { takeWithin: () => Promise.resolve(true) };

function reader(callRates: Pick<CallRates, 'takeWithin'> = unlimited) {
  const { db } = database;
  const breaks = createBreaks(db);
  const statements = createStatementStore(db, breaks);
  const tenants = createTenants({ db, environment: 'sandbox' });
  const config = { mongodb: { uri: database.uri, database: database.name } };
  const matchStatement = statementMatcher({ config, database, statements, breaks, tenants });
  const providers = { find: () => provider };
  const deps = { statements, providers, callRates, matchStatement, clock };
  const read = (position: StatementPosition | null) => {
    const input = { provider: 'paystack', days: DAYS, perSecond: 1_000, position };
    return readStatementPage(deps, input, never);
  };
  /** A whole run. */
  async function readAll() {
    let page = await read(null);
    while (page.position) page = await read(page.position);
    return page;
  }
  return { read, readAll, statements, open: () => breaks.list(OPEN) };
}

test('a reading makes no call that the rate of its provider does not allow', async () => {
  for (let payments = 0; payments < 12; payments += 1) await pay();
  let seconds = 0;
  const perSecond = 20;
  const limit = { name: 'paystack-transfers', callsPerSecond: perSecond };
  const callRates = createCallRates({
    limits: [{ ...limit, bulkTransfersOf: 'paystack' }],
    workers: () => 1,
    now: () => seconds * 1_000,
  });
  const { readAll, statements } = reader(callRates);
  const before = fake.requests.length;
  const calls = () => fake.requests.length - before;
  const over = new AbortController();
  const reading = readAll().finally(() => over.abort());
  while (!over.signal.aborted) {
    expect(calls()).toBeLessThanOrEqual(perSecond * seconds);
    await sleep(30);
    seconds += 1 / perSecond;
  }
  await reading;
  // A page for each day, and a payment for each row but that of the opening balance.
  expect(calls()).toBe(DAYS + 12);
  expect((await statements.latest(1))[0]).toMatchObject({ rows: 13, has_last_row: true });
});

test('a day whose statement is not answered is read by the next run, and the days after it at once', async () => {
  const reference = await pay();
  const { read, readAll, statements, open } = reader();
  fake.plan('ledger', 'error_500', 1);
  const silent = await read(null);
  expect(silent).toMatchObject({ counts: { asked: 1, unanswered: 1 }, missed: true });
  expect(await read(silent.position)).toMatchObject({ position: null, missed: true });
  expect(await open()).toMatchObject([{ kind: 'missing_here', reference }]);
  expect(await readAll()).toMatchObject({ position: null, missed: false });
  const days = (await statements.latest(5)).map((run) => `${run.rows} ${run.has_last_row}`);
  expect(new Set(days)).toEqual(new Set(['0 true', '2 true']));
});

test('a difference that a later booking ends is closed by a later run, which asks the provider nothing again', async () => {
  const reference = await pay();
  const { readAll, open } = reader();
  expect(await readAll()).toMatchObject({ counts: { differing: 1 } });
  expect(await open()).toMatchObject([{ kind: 'missing_here', reference }]);
  await database.db.collection<PostingDocument>('postings').insertOne({
    _id: `${reference}/resolve`,
    tenant_id: UNOWNED,
    at: new Date(),
    legs: [
      { account: accounts.suspense, amount_minor: -AMOUNT },
      { account: accounts.clearing('paystack'), amount_minor: AMOUNT },
    ],
  });
  const asked = fake.requests.length;
  expect(await readAll()).toMatchObject({ counts: { differing: 0 } });
  expect(await open()).toEqual([]);
  expect(fake.requests).toHaveLength(asked);
});
