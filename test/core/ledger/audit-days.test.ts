import { MongoClient } from 'mongodb';
import { auditClosedDays } from '../../../src/core/ledger/audit-days.js';
import { closeDueDays } from '../../../src/core/ledger/closing.js';
import { closingCollections, startOfDay } from '../../../src/core/ledger/days.js';
import { accounts } from '../../../src/core/ledger/posting.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { watchTenantCommands, type TenantCommand } from '../../support/tenant-commands.js';

const TENANT = 'ten_many';
const [FIRST, SECOND, THIRD] = ['2026-11-01', '2026-11-04', '2026-11-05'] as const;
/** More accounts than are read at once. */
const MANY = 2_100;
/** Accounts of a day whose movements are kept in memory: all of them, and none. */
const KEPT = [50_000, 0];
/** An upper bound of the documents that the audit may have from one reply of the database. */
const AT_ONCE = 1_000;

let database: TestDatabase;
let watched: MongoClient;
let commands: TenantCommand[];
/** The number of documents of each reply, by collection. */
let replies: { name: string; documents: number }[];

beforeEach(async () => {
  database = await openTestDatabase();
  watched = new MongoClient(database.uri, { monitorCommands: true, useBigInt64: true });
  commands = watchTenantCommands(watched, database.name);
  replies = [];
  watched.on('commandSucceeded', ({ reply }) => {
    type Cursor = { ns: string; firstBatch?: unknown[]; nextBatch?: unknown[] };
    const { cursor } = reply as { cursor?: Cursor };
    if (!cursor) return;
    const documents = (cursor.firstBatch ?? cursor.nextBatch ?? []).length;
    replies.push({ name: cursor.ns.slice(database.name.length + 1), documents });
  });
});
afterEach(async () => {
  await watched.close();
  await database.close();
});

const books = () => closingCollections(database.db);
const card = (nth: number) => accounts.cardAvailable(`crd_${String(nth).padStart(6, '0')}`);
const closingId = (day: string, account: string) => `${TENANT}/${day}/${account}`;

/** Credits one kobo to each of so many cards on a day. */
async function credit(day: string, cards: number): Promise<void> {
  const at = startOfDay(day);
  const postings = Array.from({ length: cards }, (_, nth) => ({
    _id: `${day}-${nth}/resolve`,
    tenant_id: TENANT,
    at,
    legs: [
      { account: card(nth), amount_minor: 1n },
      { account: accounts.external, amount_minor: -1n },
    ],
  }));
  await books().postings.insertMany(postings);
}

const close = () => closeDueDays(database.db, '');

/** The problems of the closed days, by day. */
async function audit(
  keptAccounts: number,
  from: string | null = null,
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const scope = { tenantId: TENANT, from, after: null, keptAccounts };
  replies.length = 0;
  await auditClosedDays(watched.db(database.name), scope, async ({ day, problems }) => {
    found[day] = problems;
  });
  return found;
}

const POSTINGS_READ = 'postings IXSCAN { tenant_id: 1, at: 1, _id: 1 } 3';

describe.each(KEPT)('with the movements of %i accounts in memory', (kept) => {
  test('closing days has few documents at once, and writes the closings of all accounts', async () => {
    await credit(FIRST, MANY);
    await books().postings.insertOne({
      _id: 'twice/resolve',
      tenant_id: TENANT,
      at: startOfDay(FIRST),
      legs: [
        { account: card(1), amount_minor: -7n },
        { account: card(1), amount_minor: 3n },
        { account: accounts.external, amount_minor: 4n },
      ],
    });
    await credit(SECOND, 3);
    replies.length = 0;
    const closed = await closeDueDays(watched.db(database.name), '', { keptAccounts: kept });
    expect(closed).toEqual({ closed: 2, refused: [], next: null });
    expect(replies.filter(({ documents }) => documents > AT_ONCE)).toEqual([]);
    expect(await books().closings.countDocuments({ day: FIRST })).toBe(MANY + 1);
    expect(await books().days.findOne({ day: FIRST })).toMatchObject({ accounts: MANY + 1 });
    const closing = (day: string) => books().closings.findOne({ _id: closingId(day, card(1)) });
    expect(await closing(FIRST)).toMatchObject({
      opening_minor: 0n,
      debits_minor: 7n,
      credits_minor: 4n,
      closing_minor: -3n,
      postings: 2,
    });
    expect(await closing(SECOND)).toMatchObject({ opening_minor: -3n, closing_minor: -2n });
    expect(await audit(kept)).toEqual({ [FIRST]: [], [SECOND]: [] });
  });

  test('the audit of closed days has few documents at once, and none of accounts that did not move', async () => {
    await credit(FIRST, MANY);
    await credit(SECOND, 3);
    await close();
    expect(await audit(kept)).toEqual({ [FIRST]: [], [SECOND]: [] });
    expect(replies.filter(({ documents }) => documents > AT_ONCE)).toEqual([]);
    expect(await audit(kept, SECOND)).toEqual({ [SECOND]: [] });
    const closings = replies.filter(({ name }) => name === 'ledger_closings');
    // Four accounts moved: their closings, and those before them.
    expect(closings.reduce((sum, { documents }) => sum + documents, 0)).toBe(8);
    expect(commands.filter(({ namesTenant }) => !namesTenant)).toEqual([]);
  });

  test('the audit of a closed day reads from indexes, and of the days before only the last closings', async () => {
    for (const day of [FIRST, SECOND, THIRD]) await credit(day, 3);
    await close();
    await database.db.command({ profile: 2 });
    await audit(kept, THIRD);
    await database.db.command({ profile: 0 });
    const read = await database.db
      .collection('system.profile')
      .find({ ns: /\.(postings|ledger_)/ })
      .toArray();
    const plans = read.map(({ ns, planSummary, docsExamined }) =>
      [String(ns).split('.')[1], planSummary, docsExamined].join(' '),
    );
    expect(plans.toSorted()).toEqual(
      [
        // The day and the one before.
        'ledger_days IXSCAN { tenant_id: 1, day: 1 } 1',
        'ledger_days IXSCAN { tenant_id: 1, day: 1 } 1',
        // Between the two days.
        'postings IXSCAN { tenant_id: 1, at: 1, _id: 1 } 0',
        // The closings, those before them, and the postings for the digest, and once more for the movements that are not kept.
        'ledger_closings IXSCAN { _id: 1 } 4',
        'ledger_closings DISTINCT_SCAN { tenant_id: 1, account: 1, day: -1 } 4',
        ...Array.from(
          kept > 0 ? ['the digest'] : ['the digest', 'the movements'],
          () => POSTINGS_READ,
        ),
      ].toSorted(),
    );
  });

  test('closings that are missing, changed or too many are found among many, and the others are right', async () => {
    await credit(FIRST, MANY);
    await close();
    const { closings } = books();
    const of = (account: string) => ({ _id: closingId(FIRST, account) });
    const { external } = accounts;
    for (const gone of [card(0), card(500), external]) await closings.deleteOne(of(gone));
    const [one] = await closings.find(of(card(1))).toArray();
    if (!one) throw new Error('the account has no closing');
    const unmoved = `${card(1_000)}x`;
    await closings.insertOne({ ...one, ...of(unmoved), account: unmoved });
    const more = { debits_minor: 3n, credits_minor: 4n };
    await closings.updateOne(of(card(1_999)), { $set: more });
    await closings.updateOne(of(card(2_000)), { $set: { account: card(7) } });
    const day = `${TENANT}/${FIRST}`;
    expect(await audit(kept)).toEqual({
      [FIRST]: [
        `${day}/${card(0)} has no closing`,
        `${day}/${card(500)} has no closing`,
        `${day}/${unmoved} says 0 debits and 1 credits in 1 postings, the postings 0 and 0 in 0`,
        `${day}/${card(1_999)} says 3 debits and 4 credits in 1 postings, the postings 0 and 1 in 1`,
        `${day}/${card(2_000)} names ${card(7)} on ${FIRST}`,
        `${day} was closed with ${MANY + 1} accounts, it has ${MANY - 1}`,
        `${day}/${external} has no closing`,
      ],
    });
  });

  test('a posting counts once for an account of two of its legs', async () => {
    await books().postings.insertOne({
      _id: 'one/resolve',
      tenant_id: TENANT,
      at: startOfDay(FIRST),
      legs: [
        { account: accounts.external, amount_minor: -1n },
        { account: card(1), amount_minor: 3n },
        { account: card(1), amount_minor: -2n },
      ],
    });
    await close();
    const closing = await books().closings.findOne({ account: card(1) });
    expect(closing).toMatchObject({ debits_minor: 2n, credits_minor: 3n, postings: 1 });
    expect(await audit(kept)).toEqual({ [FIRST]: [] });
  });

  test('a day that was removed by hand is found, also if its closings stay and its postings do not', async () => {
    for (const day of [FIRST, SECOND, THIRD]) await credit(day, 1);
    await close();
    await books().days.deleteOne({ _id: `${TENANT}/${SECOND}` });
    const [ofCard, ofExternal] = [card(0), accounts.external].map((each) => closingId(THIRD, each));
    const opens = [
      `${ofCard} opens at 2, the closing before it is 1`,
      `${ofExternal} opens at -2, the closing before it is -1`,
    ];
    const late = `${SECOND}-0/resolve is dated on a day that was closed without it`;
    expect(await audit(kept)).toEqual({ [FIRST]: [], [THIRD]: [...opens, late] });
    await books().postings.deleteMany({ at: startOfDay(SECOND) });
    expect(await audit(kept, THIRD)).toEqual({ [THIRD]: opens });
  });
});
