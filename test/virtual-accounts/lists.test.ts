import {
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import {
  createVirtualAccounts,
  type AccountListing,
} from '../../src/capabilities/virtual-accounts/store.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { keysReadBy } from '../support/keys-read.js';

const FIRST = Date.parse('2026-01-01T00:00:00Z');
const DAYS = 150;
const PER_DAY = 20;
const PAGE = 20;
const tenantId = 'ten_a';
const dayAt = (day: number) => new Date(FIRST + day * DAY_MS);

let database: TestDatabase;

const account = (index: number): VirtualAccount => ({
  ...newVirtualAccount(
    {
      tenantId,
      provider: 'sandbox-bank',
      customer: { id: `customer-${index}`, name: null, email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    dayAt(index / PER_DAY),
  ),
  state: 'active',
  status: 'completed',
  account_number: String(9_800_000_000 + index),
  total_received_minor: BigInt((index * 7_919) % 100_000),
});

beforeAll(async () => {
  database = await openTestDatabase();
  const accounts = Array.from({ length: DAYS * PER_DAY }, (_, index) => account(index));
  await database.db.collection<VirtualAccount>('virtual_accounts').insertMany(accounts);
});
afterAll(() => database.close());

const SORTS = ['created_at', 'account_number', 'total_received_minor'] as const;

/** The accounts that a list shows, and the keys that it reads of them. */
async function list(query: Partial<AccountListing>) {
  const now = () => dayAt(DAYS);
  const store = createVirtualAccounts(database, createGroupCommit(database), 1_000, now);
  const sort = { field: 'created_at', descending: true } as const;
  const { result, keys } = await keysReadBy(database, 'virtual_accounts', () =>
    store.list(tenantId, { limit: PAGE, offset: 0, sort, ...query }),
  );
  return { items: result.items, keys };
}

describe.each(SORTS)('accounts in the order of %s', (field) => {
  test.each([
    ['all', {}],
    ['of a state', { status: 'active' }],
  ] as const)('%s: a page reads itself alone, in both directions', async (_, filter) => {
    for (const descending of [true, false]) {
      const { items, keys } = await list({ ...filter, sort: { field, descending } });
      const values = items.map((item) => item[field]);
      const ordered = values.toSorted((a, b) => (Number(a) < Number(b) ? -1 : 1));
      expect(values).toEqual(descending ? ordered.toReversed() : ordered);
      expect([items.length, keys <= 2 * PAGE]).toEqual([PAGE, true]);
    }
  });

  test('of one day: a page reads the accounts of that day, and not those of all others', async () => {
    const range = { from: dayAt(3), until: dayAt(4) };
    const { items, keys } = await list({ ...range, sort: { field, descending: true } });
    expect(items).toHaveLength(PER_DAY);
    // Plans are compared over at most as many accounts as the day has.
    expect(keys).toBeLessThan((DAYS * PER_DAY) / 10);
  });
});
