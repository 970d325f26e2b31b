import { allowance } from '../../src/tenants/tenant.js';
import { createTenants } from '../../src/tenants/store.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
const tenantsOf = (environment: 'sandbox' | 'live') =>
  createTenants({ db: database.db, environment });

test('what is created is what is read, amounts as bigint', async () => {
  const tenants = tenantsOf('sandbox');
  const made = await tenants.create({
    name: 'Ada',
    plan: 'growth',
    dailyLimitMinor: 5_000_000_000n,
  });
  expect(made.limits).toEqual({
    minMinor: 100n,
    maxMinor: 500_000_000n,
    dailyMinor: 5_000_000_000n,
  });
  expect(await tenants.get(made.id)).toEqual(made);
  expect(await tenants.list()).toContainEqual(made);
  const stored = await database.db
    .collection<{ _id: string; limits: unknown }>('tenants')
    .findOne({ _id: made.id });
  expect(stored?.limits).toEqual({
    min_minor: 100n,
    max_minor: 500_000_000n,
    daily_minor: 5_000_000_000n,
  });
});

test('in the sandbox every feature is on, in live none, and what is named wins', async () => {
  const on = { identity: true, virtual_accounts: true, cards: true, billpay: true };
  const off = { identity: false, virtual_accounts: false, cards: false, billpay: false };
  const named = { features: { cards: false, identity: true } };
  const input = { name: 'Ada', plan: 'starter' } as const;
  expect((await tenantsOf('sandbox').create(input)).features).toEqual(on);
  expect((await tenantsOf('live').create(input)).features).toEqual(off);
  const chosen = await tenantsOf('sandbox').create({ ...input, ...named });
  expect(chosen.features).toEqual({ ...on, cards: false });
});

test('features change one by one, and only those of that tenant', async () => {
  const tenants = tenantsOf('sandbox');
  const a = await tenants.create({ name: 'A', plan: 'sandbox' });
  const b = await tenants.create({ name: 'B', plan: 'sandbox' });
  const changed = await tenants.updateFeatures(a.id, { cards: false });
  expect(changed?.features).toEqual({ ...a.features, cards: false });
  expect(await tenants.get(a.id)).toEqual(changed);
  expect(await tenants.get(b.id)).toEqual(b);
  expect(await tenants.updateFeatures('ten_nobody', { cards: true })).toBeNull();
});

test('a custom rate replaces the plan and bursts to one and a half times', async () => {
  const tenants = tenantsOf('sandbox');
  const custom = await tenants.create({ name: 'E', plan: 'enterprise', ratePerMinute: 40_001 });
  expect(allowance(custom)).toEqual({ rate: 40_001, burst: 60_001 });
  const plain = await tenants.create({ name: 'S', plan: 'sandbox' });
  expect(allowance(plain)).toEqual({ rate: 100, burst: 150 });
});

test('the database itself refuses a tenant that is not one', async () => {
  const raw = database.db.collection<{ _id: string }>('tenants');
  const { id } = await tenantsOf('sandbox').create({ name: 'A', plan: 'sandbox' });
  const spoil = (change: object) => raw.updateOne({ _id: id }, { $set: change });
  await expect(spoil({ plan: 'free' })).rejects.toThrow('validation');
  await expect(spoil({ 'limits.daily_minor': 5 })).rejects.toThrow('validation');
  await expect(spoil({ 'limits.daily_minor': -5n })).rejects.toThrow('validation');
  await expect(spoil({ rate_per_minute: 0 })).rejects.toThrow('validation');
  await expect(spoil({ 'features.cards': 'on' })).rejects.toThrow('validation');
});
