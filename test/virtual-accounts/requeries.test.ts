import {
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import { transitionAccount } from '../../src/capabilities/virtual-accounts/transitions.js';
import { reconcileDepositPage } from '../../src/capabilities/deposits/reconciliation.js';
import {
  createVirtualAccounts,
  type VirtualAccounts,
} from '../../src/capabilities/virtual-accounts/store.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import type { AccountFace } from '../../src/core/providers/account-provider.js';
import { DAY_MS, HOUR_MS } from '../../src/shared/durations.js';
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
): Promise<string> {
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
  return account._id;
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

describe('the days of an account that is closed', () => {
  const closed = async (createdAt: string, at: string) => {
    const id = await active(createdAt);
    now = new Date(at);
    const account = await accounts.find(id);
    if (!account) throw new Error(`there is no ${id}`);
    const origin = { via: 'poll', actor: null, providerRequestId: null, note: null } as const;
    const end = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;
    const { next } = transitionAccount(account, { ...origin, ...end, instruction: 'close' }, now);
    await database.db.collection<VirtualAccount>('virtual_accounts').replaceOne({ _id: id }, next);
  };

  test('are asked about until the end of the day after, and no longer', async () => {
    await closed('2026-10-01T08:00:00.000Z', '2026-11-20T23:30:00.000Z');
    expect(await asked('2026-11-20T23:40:00.000Z', 600_000)).toEqual(['2026-11-19']);
    expect(await asked('2026-11-20T23:51:00.000Z', 600_000)).toEqual(['2026-11-20']);
    expect(await asked('2026-11-21T00:10:00.000Z', 600_000)).toEqual(['2026-11-20']);
    expect(await asked('2026-11-21T00:30:00.000Z', 600_000)).toEqual(['2026-11-21']);
    expect(await asked('2026-11-22T00:30:00.000Z', 600_000)).toEqual(['2026-11-21']);
    expect(await asked('2026-11-22T08:30:00.000Z', 600_000)).toEqual([]);
  });

  test('are made up for after an outage', async () => {
    await closed('2026-10-01T08:00:00.000Z', '2026-11-20T12:00:00.000Z');
    await asked('2026-11-20T13:00:00.000Z');
    expect(await asked('2026-11-29T06:00:00.000Z')).toEqual(['2026-11-20']);
    expect(await asked('2026-11-29T08:00:00.000Z')).toEqual(['2026-11-21']);
    expect(await asked('2026-11-29T10:00:00.000Z')).toEqual([]);
  });

  test('include the day after even if the provider was never asked before', async () => {
    await closed('2026-10-01T08:00:00.000Z', '2026-11-20T12:00:00.000Z');
    expect(await asked('2026-11-29T06:00:00.000Z')).toEqual(['2026-11-21']);
    expect(await asked('2026-11-29T08:00:00.000Z')).toEqual([]);
  });
});

describe('a page of requeries', () => {
  let fake: Awaited<ReturnType<typeof startFake>>;
  beforeEach(async () => {
    fake = await startFake();
  });
  afterEach(() => fake.close());

  /** Opens as many accounts at our own Paystack, and returns the function that asks about a page of them. */
  async function opened(count: number) {
    const settings = { ...settingsFor(fake.url), customerDomain: CUSTOMER_DOMAIN };
    const provider = createPaystackAccounts(settings, banksFor(settings));
    for (let number = 1; number <= count; number += 1) {
      const holder = { id: `customer-${number}`, name: 'Ada Obi', email: null };
      const assigned = await provider.assign(
        {
          reference: newId('virtualAccount'),
          holder: { ...holder, phone: '+2348012345678' },
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
    return () =>
      reconcileDepositPage(
        {
          deposits: {} as never,
          breaks: {} as never,
          virtualAccounts: { store: accounts },
          providers: { findAccountProvider: () => provider },
        },
        { provider: PROVIDER, days: 1, perSecond: 100, position: { step: 'requery' } } as never,
      );
  }

  const requests = () =>
    fake.requests
      .filter(({ path }) => path === '/dedicated_account/requery')
      .map(({ query }) => ({ account: query['account_number'], day: query['date'] }));
  /** The days that each account was asked about, in the order of the first requests. */
  const daysOfEach = () =>
    [...new Set(requests().map(({ account }) => account))].map((each) =>
      requests().flatMap(({ account, day }) => (account === each ? [day] : [])),
    );
  const anHourLater = () => {
    now = new Date(now.getTime() + HOUR_MS + 1);
  };
  const [YESTERDAY, LATER] = ['2026-11-19', '2026-11-20'];

  test('passes over an account without an answer, which keeps nobody waiting and is asked about again after its pause', async () => {
    const page = await opened(3);
    fake.plan('requery', 'error_500');
    expect(await page()).toMatchObject({ asked: 3, unanswered: false, next: null });
    expect(await page()).toMatchObject({ asked: 0 });
    anHourLater();
    expect(await page()).toMatchObject({ asked: 3, unanswered: false });
    expect(daysOfEach()).toEqual([
      [YESTERDAY, YESTERDAY],
      [YESTERDAY, LATER],
      [YESTERDAY, LATER],
    ]);
  });

  test('passes over any number of accounts about which the provider refuses requests', async () => {
    const page = await opened(5);
    fake.plan('requery', 'other_text', 4);
    expect(await page()).toMatchObject({ asked: 5, unanswered: false, next: null });
    anHourLater();
    expect(await page()).toMatchObject({ asked: 5 });
    const repeated = daysOfEach().filter(([first, second]) => first === second);
    expect(repeated).toHaveLength(4);
  });

  test('gives up a closed account about which the provider refuses requests a week after its last day', async () => {
    const page = await opened(1);
    const stored = database.db.collection<VirtualAccount>('virtual_accounts');
    const through = '2026-11-13';
    await stored.updateMany({}, { $set: { state: 'closed', requery_through: through } });
    fake.plan('requery', 'other_text', 2);
    await page();
    expect(await stored.findOne({})).toMatchObject({ requery_through: through });
    now = new Date(now.getTime() + DAY_MS);
    await page();
    expect(await stored.findOne({})).not.toHaveProperty('requery_through');
    now = new Date(now.getTime() + DAY_MS);
    expect(await page()).toMatchObject({ asked: 0 });
  });

  test('ends at once if the provider wants no requests now', async () => {
    const page = await opened(2);
    fake.plan('requery', 'throttle_seconds');
    expect(await page()).toMatchObject({ asked: 1, unanswered: true, next: null });
    expect(await page()).toMatchObject({ asked: 1, unanswered: false, next: null });
  });

  test('of few accounts tells that the provider is silent, if it answers about none', async () => {
    const page = await opened(2);
    fake.plan('requery', 'error_500', 2);
    expect(await page()).toMatchObject({ asked: 2, unanswered: true, next: null });
  });

  test('ends if the provider answers about none, and the next one begins with the accounts that were not asked about', async () => {
    const page = await opened(4);
    for (let failures = 0; failures < 3; failures += 1) fake.plan('requery', 'error_500');
    expect(await page()).toMatchObject({ asked: 3, unanswered: true, next: null });
    expect(await page()).toMatchObject({ asked: 1, unanswered: false, next: null });
    anHourLater();
    expect(await page()).toMatchObject({ asked: 4, unanswered: false });
    expect(daysOfEach()).toEqual([
      [YESTERDAY, YESTERDAY],
      [YESTERDAY, YESTERDAY],
      [YESTERDAY, YESTERDAY],
      [YESTERDAY, LATER],
    ]);
  });
});
