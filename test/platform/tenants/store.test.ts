import { allowance, safeguardAllowance } from '../../../src/platform/tenants/tenant.js';
import { createTenants } from '../../../src/platform/tenants/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
const tenantsOf = (environment: 'sandbox' | 'live') =>
  createTenants({ db: database.db, environment });

test('a created tenant is read back unchanged, with amounts as bigint', async () => {
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

test('a new tenant has every feature in the sandbox and none in live, unless named otherwise', async () => {
  const on = { identity: true, virtual_accounts: true, cards: true, billpay: true };
  const off = { identity: false, virtual_accounts: false, cards: false, billpay: false };
  const named = { features: { cards: false, identity: true } };
  const input = { name: 'Ada', plan: 'starter' } as const;
  expect((await tenantsOf('sandbox').create(input)).features).toEqual(on);
  expect((await tenantsOf('live').create(input)).features).toEqual(off);
  const chosen = await tenantsOf('sandbox').create({ ...input, ...named });
  expect(chosen.features).toEqual({ ...on, cards: false });
});

test('changing one feature of a tenant leaves its other features and other tenants unchanged', async () => {
  const tenants = tenantsOf('sandbox');
  const a = await tenants.create({ name: 'A', plan: 'sandbox' });
  const b = await tenants.create({ name: 'B', plan: 'sandbox' });
  const changed = await tenants.update(a.id, { features: { cards: false } });
  expect(changed?.features).toEqual({ ...a.features, cards: false });
  expect(await tenants.get(a.id)).toEqual(changed);
  expect(await tenants.get(b.id)).toEqual(b);
  expect(await tenants.update('ten_nobody', { plan: 'scale' })).toBeNull();
});

test('a custom rate replaces that of the plan, with a burst of one and a half times the rate', async () => {
  const tenants = tenantsOf('sandbox');
  const custom = await tenants.create({ name: 'E', plan: 'enterprise', ratePerMinute: 40_001 });
  expect(allowance(custom)).toEqual({ rate: 40_001, burst: 60_001 });
  const plain = await tenants.create({ name: 'S', plan: 'sandbox' });
  expect(allowance(plain)).toEqual({ rate: 100, burst: 150 });
});

test('the database refuses an invalid tenant document', async () => {
  const raw = database.db.collection<{ _id: string }>('tenants');
  const { id } = await tenantsOf('sandbox').create({ name: 'A', plan: 'sandbox' });
  const spoil = (change: object) => raw.updateOne({ _id: id }, { $set: change });
  await expect(spoil({ plan: 'free' })).rejects.toThrow('validation');
  await expect(spoil({ 'limits.daily_minor': 5 })).rejects.toThrow('validation');
  await expect(spoil({ 'limits.daily_minor': -5n })).rejects.toThrow('validation');
  await expect(spoil({ rate_per_minute: 0 })).rejects.toThrow('validation');
  await expect(spoil({ 'safeguards.kyc': 0 })).rejects.toThrow('validation');
  await expect(spoil({ 'features.cards': 'on' })).rejects.toThrow('validation');
});

test('plan, rate, daily limit and safeguards of a tenant change by name, and the rate can return to the plan’s', async () => {
  const tenants = tenantsOf('sandbox');
  const made = await tenants.create({ name: 'C', plan: 'sandbox', dailyLimitMinor: 7n });
  expect(safeguardAllowance(made, 'kyc')).toEqual({ rate: 5, burst: 5 });
  const changes = { plan: 'growth', ratePerMinute: 70, safeguards: { kyc: 2 } } as const;
  const changed = await tenants.update(made.id, changes);
  expect(changed).toEqual({ ...made, ...changes });
  expect(safeguardAllowance(changed ?? made, 'kyc')).toEqual({ rate: 2, burst: 2 });
  expect(safeguardAllowance(changed ?? made, 'card_fund')).toEqual({ rate: 30, burst: 30 });
  await tenants.update(made.id, { ratePerMinute: null, safeguards: { card_events: 9 } });
  const last = await tenants.update(made.id, { dailyLimitMinor: 8n });
  expect(last).toMatchObject({
    plan: 'growth',
    ratePerMinute: null,
    limits: { dailyMinor: 8n },
    safeguards: { kyc: 2, card_events: 9 },
  });
  expect(await tenants.get(made.id)).toEqual(last);
});

test('a new tenant has the default safeguards and the dunning days of the deployment', async () => {
  const tenants = tenantsOf('sandbox');
  const { id } = await tenants.create({ name: 'New', plan: 'sandbox' });
  const stored = database.db.collection<{ _id: string }>('tenants');
  expect(await stored.findOne({ _id: id })).toMatchObject({ safeguards: {}, dunning_days: null });
  expect(await tenants.get(id)).toMatchObject({ safeguards: {}, dunningDays: null });
});
