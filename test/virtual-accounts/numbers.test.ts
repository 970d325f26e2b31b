import {
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import {
  createVirtualAccounts,
  type VirtualAccounts,
} from '../../src/capabilities/virtual-accounts/store.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

const NUMBER = '9800000001';
const FIRST = Date.parse('2026-11-01T09:00:00Z');
const dayAt = (day: number) => new Date(FIRST + day * DAY_MS);

let database: TestDatabase;
let accounts: VirtualAccounts;

beforeEach(async () => {
  database = await openTestDatabase();
  accounts = createVirtualAccounts(database, createGroupCommit(database), 1_000);
});
afterEach(() => database.close());

/** Inserts an account that has the number from this day on. Its id is in the order of the calls. */
async function account(id: string, day: number, changes: Partial<VirtualAccount>) {
  const made = newVirtualAccount(
    {
      tenantId: `ten_${id}`,
      provider: 'sandbox-bank',
      customer: { id: 'customer-1', name: null, email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    dayAt(day),
  );
  await database.db
    .collection<VirtualAccount>('virtual_accounts')
    .insertOne({ ...made, _id: `va_${id}`, account_number: NUMBER, ...changes });
}
const ownerOn = async (day: number) =>
  (await accounts.withNumber('sandbox-bank', NUMBER, dayAt(day)))?._id;

const open = { state: 'active' } as const;
const closing = { state: 'closing', instruction: 'close' } as const;
const closedOn = (day: number) =>
  ({ state: 'closed', instruction: 'close', closed_at: dayAt(day) }) as const;

describe('a number that the provider has given again', () => {
  test.each([
    ['closed', closedOn(4), open],
    ['closed, as the second one by now', closedOn(4), closedOn(8)],
    ['still closing here', closing, open],
    ['closed by the provider unknown to us', open, open],
  ])(
    'is that of the first account, which is %s, for money from before the second',
    async (_, first, second) => {
      await account('1', 0, first);
      await account('2', 6, second);
      expect(await ownerOn(2)).toBe('va_1');
      expect(await ownerOn(7)).toBe('va_2');
      // Nobody had it then, or nobody has it any more: the latest account says why it is late.
      expect(await ownerOn(5)).toBe('va_1');
      expect(await ownerOn(9)).toBe('va_2');
    },
  );

  test('is that of the older account if only that one was open at the time', async () => {
    await account('1', 0, open);
    await account('2', 1, closedOn(4));
    expect(await ownerOn(3)).toBe('va_2');
    expect(await ownerOn(5)).toBe('va_1');
  });

  test('was that of nobody before the first account', async () => {
    await account('1', 0, open);
    expect(await ownerOn(-1)).toBeUndefined();
    expect(await accounts.withNumber('paystack', NUMBER, dayAt(1))).toBeNull();
  });
});
