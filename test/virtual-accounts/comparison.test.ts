import { reconciledAccounts } from '../../src/capabilities/virtual-accounts/comparison.js';
import {
  accountCounts,
  accountCustomerId,
  newVirtualAccount,
  type AccountCustomer,
  type AccountState,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import {
  createVirtualAccounts,
  type VirtualAccounts,
} from '../../src/capabilities/virtual-accounts/store.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import type {
  AccountProvider,
  VerifyAccountAnswer,
} from '../../src/core/providers/account-provider.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';
import type { FoundBreak } from '../../src/core/reconciliation/break.js';
import type { PagePosition } from '../../src/core/reconciliation/pages.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

const TENANTS = ['ten_a', 'ten_b'];
const trace = { providerRequestId: null };

let database: TestDatabase;
let accounts: VirtualAccounts;
/** The provider's answers by the ids of accounts, and those that were asked about. */
let answers: Map<string, VerifyAccountAnswer>;
let asked: string[];
let found: FoundBreak[];

beforeEach(async () => {
  database = await openTestDatabase();
  accounts = createVirtualAccounts(database, createGroupCommit(database), 1_000);
  answers = new Map();
  asked = [];
  found = [];
});
afterEach(() => database.close());

const faceOf = (id: string) => ({
  handle: id,
  accountName: 'Ada Obi',
  bankName: 'Wema Bank',
  bankCode: '035',
});

/** Inserts an account that is as old as this; its provider has it as assigned. Returns its id. */
async function account(tenantId: string, days: number, state: AccountState = 'active') {
  const made = newVirtualAccount(
    {
      tenantId,
      provider: 'sandbox-bank',
      customer: { id: `holder-${days}`, email: null, name: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    new Date(Date.now() - days * DAY_MS),
  );
  const { _id: id } = made;
  const face = faceOf(id);
  const accountNumber = `99${String(answers.size).padStart(8, '0')}`;
  await database.db.collection<VirtualAccount>('virtual_accounts').insertOne({
    ...made,
    state,
    status: 'completed',
    account_number: accountNumber,
    face,
    next_check_at: null,
  });
  const customer = accountCustomerId(tenantId, `holder-${days}`);
  await database.db
    .collection<AccountCustomer>('virtual_account_customers')
    .insertOne({ _id: customer, tenant_id: tenantId, open: 1, version: 1 });
  const { counter } = accountCounts;
  const counts = accountCounts.changesOf(made, null, state).map((each) => counter.update(each));
  await database.db.collection(counter.name).bulkWrite(counts);
  answers.set(id, { ...trace, kind: 'assigned', accountNumber, ...face });
  return id;
}

const reconciled = () =>
  reconciledAccounts({
    database,
    virtualAccounts: { store: accounts, starter: { notifyChangedSoon: () => undefined } },
    providers: {
      accountProvider: () =>
        ({
          async verifyAccount({ reference }: { reference: string }) {
            asked.push(reference);
            return answers.get(reference);
          },
        }) as unknown as AccountProvider,
    },
  });

const newRun = () => ({
  apply: true,
  takeTurn: async () => undefined,
  report: emptyReport(),
  breaks: {
    note: async (of: { found: readonly FoundBreak[] }) => void found.push(...of.found),
  },
});
const since = new Date(Date.now() - 7 * DAY_MS);

/** Runs the scheduled comparison in pages of one account, to its end. Returns the most that a page has asked. */
async function schedule(): Promise<number> {
  let position: PagePosition | null = null;
  let most = 0;
  do {
    const run = newRun();
    const scope = { since, tenants: TENANTS, limit: 1 };
    position = await reconciled().reconcilePage(run, scope, position);
    most = Math.max(most, run.report.asked);
  } while (position !== null);
  return most;
}

describe('the scheduled comparison of virtual accounts', () => {
  test('asks about each active account once, of any age and tenant, in bounded pages, and about no other', async () => {
    const active = [
      await account('ten_a', 900),
      await account('ten_b', 400),
      await account('ten_b', 1),
    ];
    await account('ten_a', 500, 'closed');
    await account('ten_b', 500, 'failed');
    await account('ten_b', 501, 'closing');
    expect(await schedule()).toBe(1);
    expect(asked.toSorted()).toEqual(active.toSorted());
    expect(found).toEqual([]);
  });

  test('closes an account that the provider has closed by itself, and it counts as open no more', async () => {
    const id = await account('ten_a', 900);
    answers.set(id, { ...trace, kind: 'closed' });
    await schedule();
    expect(await accounts.find(id)).toMatchObject({
      state: 'closed',
      requery_through: expect.any(String) as string,
    });
    const customers = database.db.collection<AccountCustomer>('virtual_account_customers');
    expect(
      await customers.findOne({ _id: accountCustomerId('ten_a', 'holder-900') }),
    ).toMatchObject({ open: 0 });
    expect(found).toEqual([]);
  });

  test.each<[string, VerifyAccountAnswer, Partial<FoundBreak>]>([
    [
      'does not know',
      { ...trace, kind: 'not_found' },
      { kind: 'missing_there', difference: 'active with us, unknown at the bank' },
    ],
    [
      'has with another number',
      { ...trace, kind: 'assigned', accountNumber: '9876543210', ...faceOf('other') },
      { kind: 'other_state', difference: 'active with us, another account at the bank' },
    ],
  ])('closes none that the provider %s: it is a break', async (_, answer, broken) => {
    const id = await account('ten_a', 900);
    answers.set(id, answer);
    await schedule();
    expect((await accounts.find(id))?.state).toBe('active');
    expect(found).toEqual([expect.objectContaining({ reference: id, amountMinor: 0n, ...broken })]);
  });

  test('neither closes nor reports an account about which the provider is silent', async () => {
    const id = await account('ten_a', 900);
    answers.set(id, { ...trace, kind: 'unknown', reason: 'timeout' });
    await schedule();
    expect((await accounts.find(id))?.state).toBe('active');
    expect(found).toEqual([]);
  });
});

test('the command compares the active accounts that were created since its time', async () => {
  const recent = await account('ten_a', 1);
  await account('ten_a', 30);
  await reconciled().reconcile(newRun(), { since, tenants: TENANTS });
  expect(asked).toEqual([recent]);
});
