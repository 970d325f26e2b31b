import { createBreaks } from '../../src/core/reconciliation/breaks.js';
import { effectOf } from '../../src/core/reconciliation/statement.js';
import { createStatementStore } from '../../src/composition/reconciliation.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import type { LedgerEntry, TransferProvider } from '../../src/core/providers/transfer-provider.js';
import { newId } from '../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { banksFor, never, settingsFor, startFake } from './support.js';

const OPENING = 500_000_000;
const from = new Date(Date.now() - 60_000);
const to = new Date(Date.now() + 3_600_000);
const takeTurn = () => Promise.resolve();

let fake: Awaited<ReturnType<typeof startFake>>;
let provider: TransferProvider;
let database: TestDatabase;

beforeAll(async () => {
  fake = await startFake({ balance: OPENING });
  const settings = settingsFor(fake.url);
  provider = createPaystackTransfers(settings, banksFor(settings));
  database = await openTestDatabase();
});
afterAll(async () => {
  await fake?.close();
  await database?.close();
});

async function send(suffix: string): Promise<string> {
  const reference = newId('transfer');
  const order = {
    reference,
    clientReference: 'INV-118',
    amountMinor: 1_250_000n,
    currency: 'NGN',
    recipient: { account: `0123456${suffix}`, bankCode: '058', name: 'Invented Payee' },
    narration: 'Invoice 118',
    requestedAt: new Date(),
  } as const;
  const ready = await provider.prepare?.(order, never);
  if (ready?.kind !== 'ready') throw new Error('not prepared');
  await provider.submit({ ...order, handle: ready.handle }, never);
  return reference;
}

async function entries(): Promise<LedgerEntry[]> {
  const answer = await provider.ledger?.({ from, to, cursor: null, takeTurn }, never);
  if (answer?.kind !== 'page') throw new Error(`no page: ${answer?.kind}`);
  return answer.items;
}

test('the ledger of Paystack has each payment under our reference, with its fee apart, in a chain of balances', async () => {
  const reference = await send('100');
  fake.topUp(70_000);
  const found = await entries();
  expect(found).toMatchObject([
    { own: true, amountMinor: 70_000n },
    { own: false, reference, amountMinor: -1_250_000n, feeMinor: 1_000n },
    { own: true, amountMinor: BigInt(OPENING) },
  ]);
  let balance = 0n;
  for (const entry of found.toReversed()) {
    balance += effectOf(entry);
    expect(entry.balanceMinor).toBe(balance);
  }
  expect(balance).toBe(BigInt(fake.balance()));
});

test('a ledger of several pages is read once as a statement whose balances chain, also after an interruption', async () => {
  for (let times = 0; times < 120; times += 1) fake.topUp(100 + times);
  const statements = createStatementStore(database.db, createBreaks(database.db));
  const window = { from, to, takeTurn };
  fake.plan('ledger', 'error_500', 1);
  await expect(statements.pull(provider, window)).rejects.toThrow('continues');
  let pages = 0;
  const second = (given: Parameters<NonNullable<TransferProvider['ledger']>>[0]) => {
    pages += 1;
    if (pages === 2) fake.plan('ledger', 'error_500', 1);
    return provider.ledger?.(given, never) ?? Promise.reject(new Error('no ledger'));
  };
  const interrupted = { name: provider.name, ledger: second };
  await expect(statements.pull(interrupted, window)).rejects.toThrow('continues');
  const run = await statements.pull(provider, window);
  expect(run).toMatchObject({
    rows: (await entries()).length + 23,
    gap_lines: [],
    opening_minor: 0n,
    closing_minor: BigInt(fake.balance()),
    fees_minor: 1_000n,
  });
  expect(await statements.pull(provider, window)).toMatchObject({ rows: run.rows });
});

test('a list that grows between two of its pages counts no row twice', async () => {
  for (let times = 0; times < 120; times += 1) fake.topUp(100 + times);
  const statements = createStatementStore(database.db, createBreaks(database.db));
  const window = { from: new Date(from.getTime() - 1), to, takeTurn };
  let pages = 0;
  const ledger: TransferProvider['ledger'] = (given) => {
    pages += 1;
    if (pages === 2) {
      for (let times = 0; times < 3; times += 1) fake.topUp(1);
      fake.plan('ledger', 'error_500', 1);
    }
    return provider.ledger?.(given, never) ?? Promise.reject(new Error('no ledger'));
  };
  await expect(statements.pull({ name: provider.name, ledger }, window)).rejects.toThrow();
  const [half] = await statements.latest(1);
  expect(half).toMatchObject({ rows: 100, has_last_row: false });
  const run = await statements.pull(provider, window);
  expect(run).toMatchObject({ has_last_row: true, gap_lines: [], opening_minor: 0n });
  const distinct = await statements.rows.distinct('entry', { run: run._id });
  expect(distinct).toHaveLength(run.rows);
});
