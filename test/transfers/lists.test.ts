import { commitNamed } from '../support/mutations.js';
import { audits } from '../../src/composition/capabilities.js';
import fc from 'fast-check';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import { newId } from '../../src/shared/ids.js';
import { rebuildCounts } from '../../src/capabilities/transfers/counts.js';
import { createTransfers } from '../../src/capabilities/transfers/store.js';
import { indexFor, type Listing } from '../../src/core/instructions/listing.js';
import type { Transfer, TransferStatus } from '../../src/capabilities/transfers/record.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../support/transfers.js';

let database: TestDatabase;
let transfers: ReturnType<typeof createTransfers>;
let commit: ReturnType<typeof createGroupCommit>;
/** All records of `tenantId`, after every transfer has reached its state. */
let records: Transfer[];
const tenantId = newId('tenant');
const other = newId('tenant');

const STATUSES: (TransferStatus | undefined)[] = [
  undefined,
  'pending',
  'processing',
  'completed',
  'failed',
];
const DAYS = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01', '2026-11-21'];
const day = (text: string) => new Date(`${text}T00:00:00.000Z`);
const next = (text: string) => new Date(day(text).getTime() + 24 * 60 * 60 * 1000);

/** Accepts a transfer and brings it to a state that depends on `n`, through the public methods of the store. */
async function make(owner: string, n: number): Promise<string> {
  const at = new Date(`${DAYS[n % DAYS.length]}T${n % 2 === 0 ? '00:00:00.000' : '23:59:59.999'}Z`);
  const amount = BigInt(1_000 + ((n * 7) % 40));
  const transfer = pendingTransfer({ tenant_id: owner, created_at: at, amount_minor: amount });
  await commitNamed(commit, acceptTransferMutation(transfer));
  const about = { amountMinor: amount, sessionId: null };
  const paid = { ...byProvider, kind: 'succeeded', ...about } as const;
  if (n % 6 > 0)
    await transfers.acquireSubmitPermit({ tenantId: owner, id: transfer._id, submissions: 0 });
  if (n % 6 > 1 && n % 6 < 4) await transfers.applyFact(owner, transfer._id, paid);
  if (n % 6 === 3) {
    await transfers.applyFact(owner, transfer._id, { ...paid, kind: 'reversed' });
  }
  if (n % 6 === 4) {
    await transfers.applyFact(owner, transfer._id, { ...byProvider, kind: 'rejected', code: 'x' });
  }
  if (n % 6 === 5) {
    const rejected = { ...byProvider, kind: 'rejected', code: 'x' } as const;
    await transfers.applyFact(owner, transfer._id, rejected);
    await transfers.applyFact(owner, transfer._id, paid);
    if (n % 4 === 1)
      await transfers.applyFact(owner, transfer._id, { ...byProvider, kind: 'operator_confirmed' });
  }
  return transfer._id;
}

beforeAll(async () => {
  database = await openTestDatabase();
  commit = createGroupCommit(database);
  transfers = createTransfers(database, commit, 1_000);
  for (const owner of [tenantId, other]) {
    await creditWallet(commit, { tenantId: owner, amountMinor: 10_000_000n, reference: 'start' });
  }
  await Promise.all(Array.from({ length: 90 }, (_, n) => make(tenantId, n)));
  await make(other, 2);
  records = await database.db
    .collection<Transfer>('transfers')
    .find({ tenant_id: tenantId })
    .toArray();
});
afterAll(() => database.close());

/** The expected page and total, computed from every record. */
function expected({ status, from, until, reference, sort, page, limit }: Listing) {
  const direction = sort.descending ? -1 : 1;
  const fits = records.filter(
    (t) =>
      (status === undefined || t.status === status) &&
      (reference === undefined || t.reference === reference) &&
      (from === undefined || t.created_at >= from) &&
      (until === undefined || t.created_at < until),
  );
  const ordered = fits.toSorted((a, b) => {
    const [x, y] = [a[sort.field], b[sort.field]];
    if (x.valueOf() !== y.valueOf()) return x < y ? -direction : direction;
    return a._id < b._id ? -direction : direction;
  });
  const at = (page - 1) * limit;
  return { ids: ordered.slice(at, at + limit).map(({ _id }) => _id), total: fits.length };
}

const listing: fc.Arbitrary<Listing> = fc
  .record({
    page: fc.integer({ min: 1, max: 5 }),
    limit: fc.constantFrom(1, 7, 20, 100),
    status: fc.constantFrom(...STATUSES),
    from: fc.option(fc.constantFrom(...DAYS), { nil: undefined }),
    until: fc.option(fc.constantFrom(...DAYS), { nil: undefined }),
    reference: fc.option(fc.nat({ max: 200 }), { nil: undefined, freq: 5 }),
    field: fc.constantFrom('created_at' as const, 'amount_minor' as const),
    descending: fc.boolean(),
  })
  .map(({ from, until, reference, field, descending, ...rest }) => ({
    ...rest,
    from: from === undefined ? undefined : day(from),
    until: until === undefined ? undefined : next(until),
    reference:
      reference === undefined ? undefined : (records[reference]?.reference ?? 'never used'),
    sort: { field, descending },
  }));

describe('lists of transfers', () => {
  test('every filter, sort and page returns the matching transfers in a total order, and the exact total', async () => {
    await fc.assert(
      fc.asyncProperty(listing, async (query) => {
        const { items, total } = await transfers.list(tenantId, query);
        expect({ ids: items.map(({ _id }) => _id), total }).toEqual(expected(query));
      }),
      { numRuns: 400 },
    );
  });

  test('the listed transfers cover all four statuses', () => {
    const found = new Set(records.map(({ status }) => status));
    expect(found.size).toBe(4);
  });

  test('the counts equal the records, the audit reports a difference, and a rebuild corrects it', async () => {
    expect((await auditLedger(database, audits)).problems).toEqual([]);
    const counts = database.db.collection<{ _id: string }>('transfer_monthly_counts');
    const month = { _id: `${tenantId}/2026-02` };
    await counts.updateOne(month, { $inc: { created: 1n, 'days.28.failed': -1n } });
    expect((await auditLedger(database, audits)).problems).toEqual([
      expect.stringMatching(/2026-02-28 counts/),
      expect.stringMatching(/2026-02 counts/),
    ]);
    await rebuildCounts(database.db);
    expect((await auditLedger(database, audits)).problems).toEqual([]);
  });

  test('a first page reads as many records as it shows, without a sort', async () => {
    const sorts = (['created_at', 'amount_minor'] as const).flatMap((field) =>
      [true, false].map((descending) => ({ field, descending })),
    );
    for (const sort of sorts) {
      for (const status of [undefined, 'completed', 'failed'] as const) {
        const filter = { tenant_id: tenantId, ...(status && { status }) };
        const direction = sort.descending ? -1 : 1;
        const plan = await database.db
          .collection<Transfer>('transfers')
          .find(filter, { hint: indexFor({ page: 1, limit: 5, sort, status }) })
          .sort({ [sort.field]: direction, _id: direction })
          .limit(5)
          .explain('executionStats');
        expect(plan.executionStats.totalDocsExamined).toBe(5);
        expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toContain('"SORT"');
      }
    }
  });

  test('a period that is read as the guide says has each transfer once, although new ones arrive between its pages', async () => {
    const owner = newId('tenant');
    await creditWallet(commit, { tenantId: owner, amountMinor: 10_000_000n, reference: 'start' });
    const before: string[] = [];
    const after: string[] = [];
    for (let n = 0; n < 40; n += 1) before.push(await make(owner, n));
    const period = { from: day('2026-01-31'), until: next('2026-03-01'), limit: 7 };
    const inPeriod = before.filter((_, n) => n % DAYS.length < DAYS.length - 1);
    const read: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const sort = { field: 'created_at', descending: false } as const;
      const { items, total } = await transfers.list(owner, { ...period, page, sort });
      read.push(...items.map(({ _id }) => _id));
      pages = Math.ceil(total / period.limit);
      // Both after the period, as what arrives now is.
      after.push(await make(owner, 4), await make(owner, 9));
    }
    expect(after.length).toBeGreaterThan(4);
    expect(read.toSorted()).toEqual(inPeriod.toSorted());
  });

  test('an open transfer is listed under its present status only', async () => {
    const owner = newId('tenant');
    await creditWallet(commit, { tenantId: owner, amountMinor: 1_000_000n, reference: 'start' });
    const id = await make(owner, 0);
    const query: Listing = {
      page: 1,
      limit: 20,
      sort: { field: 'amount_minor', descending: true },
    };
    const total = async (status: TransferStatus) =>
      (await transfers.list(owner, { ...query, status })).total;
    expect([await total('pending'), await total('processing')]).toEqual([1, 0]);
    await transfers.acquireSubmitPermit({ tenantId: owner, id, submissions: 0 });
    expect([await total('pending'), await total('processing')]).toEqual([0, 1]);
    expect(await total('completed')).toBe(0);
  });
});
