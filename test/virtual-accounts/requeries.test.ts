import {
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/virtual-account.js';
import { reconcileDepositPage } from '../../src/capabilities/deposits/reconciliation.js';
import {
  createVirtualAccounts,
  type VirtualAccounts,
} from '../../src/capabilities/virtual-accounts/store.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import type { AccountFace } from '../../src/core/providers/account-provider.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { newId } from '../../src/shared/ids.js';
import { banksFor, CUSTOMER_DOMAIN, never, settingsFor, startFake } from '../paystack/support.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

const PROVIDER = 'paystack';
let database: TestDatabase;
let accounts: VirtualAccounts;
let now: Date;

beforeEach(async () => {
  database = await openTestDatabase();
  accounts = createVirtualAccounts(database, createGroupCommit(database), 1_000, () => now);
  now = new Date('2026-11-20T23:30:00.000Z');
});
afterEach(() => database.close());

/** An active account that is as old as this. `face`: as its provider has it. */
async function active(
  createdAt: string,
  { accountNumber, ...face }: AccountFace = {
    accountNumber: '0123456789',
    handle: '77',
    accountName: 'Ada Obi',
    bankName: 'Wema Bank',
    bankCode: '035',
  },
): Promise<void> {
  const account = newVirtualAccount(
    {
      tenantId: 'ten_a',
      provider: PROVIDER,
      customer: { id: 'customer-1', email: null, name: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    new Date(createdAt),
  );
  await database.db
    .collection<VirtualAccount>('virtual_accounts')
    .insertOne({ ...account, state: 'active', account_number: accountNumber, face });
}

/** The days that are asked about at this time. */
async function asked(at: string, everyMs = DAY_MS): Promise<string[]> {
  now = new Date(at);
  const taken = await accounts.takeForRequery(PROVIDER, everyMs, 10);
  for (const account of taken) await accounts.noteRequeried(account);
  return taken.map(({ day }) => day);
}

describe('the days of an account whose provider is asked to report again', () => {
  test('are each asked about after their end, once', async () => {
    await active('2026-10-01T08:00:00.000Z');
    expect(await asked('2026-11-20T23:30:00.000Z')).toEqual(['2026-11-19']);
    expect(await asked('2026-11-20T23:50:00.000Z')).toEqual([]);
    expect(await asked('2026-11-21T00:10:00.000Z')).toEqual(['2026-11-20']);
    expect(await asked('2026-11-21T23:10:00.000Z')).toEqual([]);
    expect(await asked('2026-11-22T06:10:00.000Z')).toEqual(['2026-11-21']);
  });

  test('are made up for one by one after an outage', async () => {
    await active('2026-10-01T08:00:00.000Z');
    await asked('2026-11-16T06:00:00.000Z');
    expect(await asked('2026-11-19T06:00:00.000Z')).toEqual(['2026-11-16']);
    expect(await asked('2026-11-19T08:00:00.000Z')).toEqual(['2026-11-17']);
    expect(await asked('2026-11-19T10:00:00.000Z')).toEqual(['2026-11-18']);
    expect(await asked('2026-11-19T12:00:00.000Z')).toEqual([]);
  });

  test('begin with the account, and include the present one where the provider allows more than one request a day', async () => {
    await active('2026-11-20T08:00:00.000Z');
    expect(await asked('2026-11-20T09:00:00.000Z', 1_000)).toEqual(['2026-11-20']);
    expect(await asked('2026-11-20T09:00:02.000Z', 1_000)).toEqual(['2026-11-20']);
    expect(await asked('2026-11-21T09:00:00.000Z', 1_000)).toEqual(['2026-11-20']);
    expect(await asked('2026-11-21T09:00:02.000Z', 1_000)).toEqual(['2026-11-21']);
  });
});

test('accounts wait for the next page if their provider does not answer, and none is passed over', async () => {
  const fake = await startFake();
  try {
    const settings = { ...settingsFor(fake.url), customerDomain: CUSTOMER_DOMAIN };
    const provider = createPaystackAccounts(settings, banksFor(settings));
    for (const number of [1, 2]) {
      const assigned = await provider.assign(
        {
          reference: newId('virtualAccount'),
          holder: {
            id: `customer-${number}`,
            name: 'Ada Obi',
            email: null,
            phone: '+2348012345678',
          },
          accountName: 'Ada Obi',
          bankCode: null,
          currency: 'NGN',
          requestedAt: new Date(),
        },
        never,
      );
      if (assigned.kind !== 'assigned') throw new Error(`not assigned, but ${assigned.kind}`);
      await active('2026-10-01T08:00:00.000Z', assigned);
    }
    const page = () =>
      reconcileDepositPage(
        {
          deposits: {} as never,
          virtualAccounts: { store: accounts },
          providers: { findAccountProvider: () => provider },
        },
        { provider: PROVIDER, days: 1, perSecond: 100, position: { step: 'requery' } } as never,
      );
    fake.plan('requery', 'error_500');
    expect(await page()).toMatchObject({ unanswered: true, next: { step: 'requery' } });
    expect(await page()).toMatchObject({ asked: 2, unanswered: false, next: null });
    expect(await page()).toMatchObject({ asked: 0 });
    const days = fake.requests
      .filter(({ path }) => path === '/dedicated_account/requery')
      .map(({ query }) => query['date']);
    expect(new Set(days)).toEqual(new Set(['2026-11-19']));
    expect(days).toHaveLength(3);
  } finally {
    await fake.close();
  }
});
