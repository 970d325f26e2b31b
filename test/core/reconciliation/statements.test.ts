import { createStatementStore, matchingParts } from '../../../src/composition/reconciliation.js';
import { UNOWNED } from '../../../src/capabilities/deposits/record.js';
import { deskRefundId } from '../../../src/capabilities/refunds/record.js';
import type { PostingDocument } from '../../../src/core/ledger/collections.js';
import { accounts } from '../../../src/core/ledger/posting.js';
import { newId } from '../../../src/shared/ids.js';
import { createBreaks } from '../../../src/core/reconciliation/breaks.js';
import { matchStatement } from '../../../src/core/reconciliation/matching.js';
import type { StatementRow } from '../../../src/core/reconciliation/statement.js';
import { createTenants } from '../../../src/platform/tenants/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let provider: string;
let banks = 0;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  provider = `bank-${(banks += 1)}`;
});

/** A row: its amount, its time or its day, and its reference, if it has one. */
type Given = readonly [amountMinor: bigint, at: string, reference?: string];

/** Imports a statement of these rows, portion by portion, and compares it. */
async function statement(portions: readonly (readonly Given[])[], slackMs = 60_000): Promise<void> {
  const breaks = createBreaks(database.db);
  const statements = createStatementStore(database.db, breaks);
  const tenants = createTenants({ db: database.db, environment: 'sandbox' });
  const name = JSON.stringify(portions, (_, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  );
  const given = {
    provider,
    name,
    digest: name,
    order: 'oldest_first',
    from: null,
    to: null,
  } as const;
  let run = await statements.begin({ ...given, slackMs });
  for (const portion of portions) {
    const rows = portion.map(([amountMinor, at, reference = null], i): StatementRow => ({
      line: run.rows + 1 + i,
      reference,
      amountMinor,
      feeMinor: null,
      balanceMinor: null,
      at: new Date(at),
      own: false,
    }));
    run = await statements.add(run._id, rows, { isLast: portion === portions.at(-1) });
  }
  await matchStatement(await matchingParts({ database, statements, breaks, tenants }), run);
}

/** The amounts of the open breaks of this provider. */
async function open(): Promise<bigint[]> {
  const found = await createBreaks(database.db).list({ provider, status: 'open', limit: 100 });
  return found.map(({ amount_minor: amount }) => amount).toSorted((a, b) => Number(a - b));
}

const NINE = '2026-11-20T09:00:00.000Z';
const TEN = '2026-11-20T10:00:00.000Z';
const LATE = '2026-11-20T23:30:00.000Z';
const DATED = '2026-11-20T00:00:00.000Z';

test('a row without a reference is one break, in however many overlapping statements it is', async () => {
  await statement([[[700n, NINE]], [[500n, TEN]]]);
  expect(await open()).toEqual([500n, 700n]);
  await statement([
    [
      [500n, '2026-11-20T10:00:20.000Z'],
      [900n, LATE],
    ],
  ]);
  expect(await open()).toEqual([500n, 700n, 900n]);
  await statement(
    [
      [
        [700n, DATED],
        [500n, DATED],
      ],
      [[900n, DATED]],
    ],
    (26 * DAY_MS) / 24,
  );
  expect(await open()).toEqual([500n, 700n, 900n]);
});

test('equal rows of two days are a break each, in statements with dates alone and in ones that meet at midnight', async () => {
  const days = (26 * DAY_MS) / 24;
  await statement([[[500n, '2026-11-20T00:00:00.000Z']]], days);
  await statement([[[500n, '2026-11-21T00:00:00.000Z']]], days);
  expect(await open()).toEqual([500n, 500n]);
  await statement([[[900n, '2026-11-20T23:59:40.000Z']]]);
  await statement([[[900n, '2026-11-21T00:00:10.000Z']]]);
  expect(await open()).toEqual([500n, 500n, 900n, 900n]);
});

test('equal rows of two days are a break each, also if the first was accepted and the later file comes first', async () => {
  await statement([[[900n, '2026-11-21T00:00:10.000Z']]]);
  const breaks = createBreaks(database.db);
  const [found] = await breaks.list({ provider, status: 'open', limit: 1 });
  const session = database.client.startSession();
  await breaks.accept(String(found?._id), { operator: 'Ada', reason: 'known' }, session);
  await session.endSession();
  await statement([[[900n, '2026-11-20T23:59:40.000Z']]]);
  expect(await open()).toEqual([900n]);
});

test('equal rows of one statement are a break each, also where another statement has some of them', async () => {
  await statement([
    [
      [500n, TEN],
      [500n, TEN],
    ],
    [[500n, LATE]],
  ]);
  expect(await open()).toEqual([500n, 500n, 500n]);
  await statement([
    [[500n, TEN]],
    [
      [500n, TEN],
      [500n, TEN],
      [-500n, TEN],
    ],
  ]);
  expect(await open()).toEqual([500n, 500n, 500n, 500n, 500n]);
});

test('a break without a reference that an operator has accepted stays closed in the next statement', async () => {
  await statement([[[500n, TEN]]]);
  const breaks = createBreaks(database.db);
  const [found] = await breaks.list({ provider, status: 'open', limit: 1 });
  const session = database.client.startSession();
  await breaks.accept(String(found?._id), { operator: 'Ada', reason: 'known' }, session);
  await session.endSession();
  await statement([
    [
      [500n, TEN],
      [700n, LATE],
    ],
  ]);
  expect(await open()).toEqual([700n]);
});

test('what is taken back of a transfer that its bank denies is a movement of the transfer: a break unless the bank returns it', async () => {
  const book = async (transfer: string) => {
    const made = [
      ['resolve', 500n],
      ['return-1', -500n],
    ] as const;
    await database.db.collection<PostingDocument>('postings').insertMany(
      made.map(([step, amountMinor]) => ({
        _id: `${transfer}/${step}`,
        tenant_id: UNOWNED,
        at: new Date(TEN),
        legs: [
          { account: accounts.suspense, amount_minor: -amountMinor },
          { account: accounts.clearing(provider), amount_minor: amountMinor },
        ],
      })),
    );
  };
  const [returned, kept] = [newId('transfer'), newId('transfer')];
  await book(returned);
  await book(kept);
  await statement([
    [
      [50n, NINE],
      [-500n, TEN, returned],
      [500n, TEN, returned],
      [-500n, TEN, kept],
      [90n, LATE],
    ],
  ]);
  expect(await open()).toEqual([50n, 90n, 500n]);
});

describe('the return of a payment from suspense, which is booked on its charge', () => {
  const charge = newId('charge');
  /** A return of this amount, booked at this time, by the refund that names its row; `-back`: the provider has taken it back. */
  async function book(refund: string, amountMinor: bigint, at: string, suffix = ''): Promise<void> {
    await database.db.collection<PostingDocument>('postings').insertOne({
      _id: `${charge}/return-${refund}${suffix}`,
      tenant_id: UNOWNED,
      at: new Date(at),
      legs: [
        { account: accounts.suspense, amount_minor: -amountMinor },
        { account: accounts.clearing(provider), amount_minor: amountMinor },
      ],
    });
  }

  test('agrees with a row that names its refund: an operator’s, and one from the provider’s desk', async () => {
    const ordered = newId('refund');
    const atDesk = deskRefundId(provider, '4711');
    await book(ordered, 500n, TEN);
    await book(atDesk, 700n, TEN);
    await statement([
      [
        [50n, NINE],
        [-500n, TEN, ordered],
        [-700n, TEN, atDesk],
        [90n, LATE],
      ],
    ]);
    expect(await open()).toEqual([50n, 90n]);
  });

  test('is a break with the difference, if the provider has refunded another amount, or nothing', async () => {
    const [less, none] = [newId('refund'), newId('refund')];
    await book(less, 500n, TEN);
    await book(none, 700n, TEN);
    await statement([
      [
        [50n, NINE],
        [-400n, TEN, less],
        [90n, LATE],
      ],
    ]);
    expect(await open()).toEqual([50n, 90n, 100n, 700n]);
  });

  test('is none once the provider has taken it back', async () => {
    const refund = newId('refund');
    await book(refund, 500n, TEN);
    await book(refund, -500n, '2026-11-20T11:00:00.000Z', '-back');
    await statement([
      [
        [50n, NINE],
        [-500n, TEN, refund],
        [500n, '2026-11-20T11:00:00.000Z', refund],
        [90n, LATE],
      ],
    ]);
    expect(await open()).toEqual([50n, 90n]);
  });
});
