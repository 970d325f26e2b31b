import { closeDueDays } from '../../src/core/ledger/closing.js';
import { closingCollections } from '../../src/core/ledger/days.js';
import { eventually } from '../support/eventually.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let receiver: Receiver;
beforeAll(async () => {
  service = await shareService();
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

type Query = Parameters<TestTenant['client']['listBalanceEntries']>[0];

const entriesOf = (tenant: TestTenant, query: Query = {}) =>
  tenant.client.listBalanceEntries({ limit: 100, ...query });

const balanceOf = async (tenant: TestTenant) => (await tenant.client.getBalance()).data;

const sumOf = (entries: readonly { amount_minor: number }[]) =>
  entries.reduce((sum, { amount_minor: amount }) => sum + amount, 0);

async function finished(tenant: TestTenant, suffix: string): Promise<string> {
  const id = await tenant.send(suffix);
  await tenant.waitFor(id, ({ status }) => ['completed', 'failed'].includes(status));
  return id;
}

describe('the balance and the statement of a tenant', () => {
  test('the entries explain the available amount to the kobo, and a refused transfer returns its hold', async () => {
    const tenant = await service.tenant({ balanceMinor: 1_000_000 });
    const paid = await finished(tenant, '789');
    const refused = await finished(tenant, '002');
    const balance = await balanceOf(tenant);
    expect(balance).toMatchObject({ held_minor: 0, owed_minor: 0, currency: 'NGN' });
    const { data, pagination } = await entriesOf(tenant);
    expect(sumOf(data)).toBe(balance.available_minor);
    expect(pagination.total).toBe(data.length);
    const of = (id: string) =>
      data.filter(({ resource }) => resource === id).map(({ movement }) => movement);
    expect(of(paid)).toEqual(['hold']);
    expect(of(refused)).toEqual(['release', 'hold']);
    expect(data.at(-1)).toMatchObject({ type: 'credit', amount_minor: 1_000_000, resource: null });
  });

  test('an open transfer is held, and the statement pages without loss or repetition', async () => {
    const tenant = await service.tenant({ balanceMinor: 1_000_000 });
    const id = await tenant.send('006');
    await finished(tenant, '789');
    const { data } = await entriesOf(tenant);
    const held = data.find(({ resource }) => resource === id);
    expect((await balanceOf(tenant)).held_minor).toBe(-Number(held?.amount_minor));
    const pages = await Promise.all(
      [1, 2, 3, 4].map(async (page) => (await entriesOf(tenant, { limit: 1, page })).data),
    );
    expect(pages.flat()).toEqual(data);
  });

  test('a selection by type and by day counts and lists the same entries', async () => {
    const tenant = await service.tenant({ balanceMinor: 1_000_000 });
    await finished(tenant, '789');
    const count = async (query: Query) => {
      const { data, pagination } = await entriesOf(tenant, query);
      expect(pagination.total).toBe(data.length);
      return data.length;
    };
    expect(await count({ type: 'transfer' })).toBe(1);
    expect(await count({ type: 'credit' })).toBe(1);
    expect(await count({ type: 'refund' })).toBe(0);
    expect(await count({ start_date: '2020-01-01', end_date: '9999-12-31' })).toBe(2);
    expect(await count({ end_date: '2020-01-01' })).toBe(0);
    const days = 'start_date=2026-02-02&end_date=2026-02-01';
    const { status, body } = await tenant.call('GET', `/balance/entries?${days}`, undefined);
    expect([status, body]).toMatchObject([400, { error: { field: 'end_date' } }]);
  });

  test('closed days count from their closings, and the statement stays the same', async () => {
    const tenant = await service.tenant({ balanceMinor: 1_000_000 });
    await finished(tenant, '789');
    const { db } = service.deps.database;
    const { postings, days } = closingCollections(db);
    const earlier = new Date(Date.now() - 3 * 24 * 60 * 60 * 1000);
    await postings.updateMany({ tenant_id: tenant.id }, { $set: { at: earlier } });
    const before = await entriesOf(tenant);
    await closeDueDays(db, '');
    expect(await days.countDocuments({ tenant_id: tenant.id })).toBe(1);
    const { data, pagination } = await entriesOf(tenant);
    expect({ data, pagination }).toEqual({ data: before.data, pagination: before.pagination });
    expect((await balanceOf(tenant)).available_minor).toBe(sumOf(before.data));
  });
});

describe('the events of a tenant', () => {
  test('are listed newest first with their deliveries, by name and by id', async () => {
    const tenant = await service.tenant({ balanceMinor: 1_000_000 });
    await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
    const id = await finished(tenant, '789');
    const completed = await eventually('the event is delivered', async () => {
      const { data } = await tenant.client.listEvents({ event: 'transfer.completed' });
      return data.find(({ deliveries }) => deliveries[0]?.status === 'delivered');
    });
    const delivered = { attempts: 1, last_status_code: 204 };
    expect(completed).toMatchObject({ resource: id, deliveries: [delivered] });
    const sent = receiver.events().find((event) => event.id === completed.id);
    expect(completed.data).toEqual(sent?.data);
    const { data } = await tenant.client.listEvents();
    const names = ['transfer.completed', 'transfer.processing'];
    expect(data.map(({ event }) => event)).toEqual(names);
    expect((await tenant.client.getEvent({ id: completed.id })).data).toEqual(completed);
  });
});
