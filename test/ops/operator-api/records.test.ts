import { randomUUID } from 'node:crypto';
import { collectionsWith } from '../../../src/composition/capabilities.js';
import { attentionIndex } from '../../../src/platform/database/indexes.js';
import { newId, timeOf } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { deadDelivery } from '../../support/dead-letters.js';
import { stopOperatorApis } from '../../support/operators.js';
import { POLICY_OF_ALL, startPolicyApi } from '../../support/policy-acts.js';
import { pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;
let api: Awaited<ReturnType<typeof startPolicyApi>>;
let viewer: Awaited<ReturnType<typeof api.person>>;
beforeAll(async () => {
  database = await openTestDatabase();
  api = await startPolicyApi(database, POLICY_OF_ALL);
  viewer = await api.person('viewer');
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

const tenant = async () => (await api.deps.tenants.create({ name: 'Ada', plan: 'sandbox' })).id;
const get = async (path: string) => {
  const { status, data } = await viewer.call('GET', path);
  return { status, rows: data as unknown as Record<string, unknown>[] };
};

/** Stores a transfer with this reference that this request has created. */
async function stored(tenantId: string, reference: string, request = newId('request')) {
  const transfer = {
    ...pendingTransfer({ tenant_id: tenantId, reference }),
    _id: newId('transfer'),
    http_request_id: request,
  };
  await database.db.collection<typeof transfer>('transfers').insertOne(transfer);
  return transfer;
}

/** The plans of all reads that an action makes, with the documents that each has examined. */
async function plansOf(act: () => Promise<unknown>) {
  const { db } = database;
  await db.setProfilingLevel('all');
  await act();
  await db.setProfilingLevel('off');
  const found = await db
    .collection('system.profile')
    .find({ op: 'query', 'command.comment': 'all tenants: report' })
    .toArray();
  await db.dropCollection('system.profile');
  return found.map(({ ns, planSummary: plan, docsExamined: documents }) => ({
    ns,
    plan,
    documents,
  }));
}

test('a reference finds the records of the tenant that is named, or of all tenants', async () => {
  const [one, other] = [await tenant(), await tenant()];
  const reference = `order-${randomUUID()}`;
  const [first, second] = [await stored(one, reference), await stored(other, reference)];
  await stored(one, `${reference}-2`);
  const all = await get(`/records?reference=${reference}`);
  expect(all.rows.map(({ id }) => String(id)).toSorted()).toEqual(
    [first._id, second._id].toSorted(),
  );
  expect(await get(`/records?reference=${reference}&tenant=${one}`)).toEqual({
    status: 200,
    rows: [
      {
        collection: 'transfers',
        id: first._id,
        tenant: one,
        reference,
        status: 'pending',
        amount_minor: Number(first.amount_minor),
        created_at: first.created_at.toISOString(),
      },
    ],
  });
});

test('a request finds the records that it has created, and none without one', async () => {
  const owner = await tenant();
  const made = await stored(owner, randomUUID());
  await stored(owner, randomUUID());
  const found = await get(`/records?request=${made.http_request_id}`);
  expect(found.rows.map(({ id }) => id)).toEqual([made._id]);
  expect(timeOf(made._id).getTime()).toBeGreaterThanOrEqual(timeOf(made.http_request_id).getTime());
  expect((await get(`/records?request=${newId('request')}`)).rows).toEqual([]);
});

test('a search needs exactly one of the two, and a request id that Bursar gave', async () => {
  const both = `reference=a&request=${newId('request')}`;
  for (const query of ['', '?tenant=ten_a', `?${both}`, '?request=of-the-caller']) {
    expect([query, (await get(`/records${query}`)).status]).toEqual([query, 400]);
  }
});

test('no search reads a collection: each is answered from an index, and examines what it finds alone', async () => {
  const owner = await tenant();
  const made = await stored(owner, randomUUID());
  for (let i = 0; i < 20; i += 1) await stored(owner, randomUUID(), 'of-the-caller');
  const searches = [`reference=${made.reference}`, `request=${made.http_request_id}`];
  for (const query of searches) {
    const plans = await plansOf(() => get(`/records?${query}`));
    expect(plans.length).toBeGreaterThan(5);
    for (const { ns, plan } of plans)
      expect([ns, plan]).toEqual([ns, expect.stringMatching(/IXSCAN/)]);
    expect(plans.map(({ plan }) => plan).join()).not.toContain('COLLSCAN');
  }
  const again = await plansOf(() => get(`/records?${searches[0]}`));
  const byReference = again.find(({ ns }) => String(ns).endsWith('.transfers'));
  expect(byReference?.documents).toBe(1);
});

test('every collection whose records may wait for an operator is searched by request, if requests create them', async () => {
  const plans = await plansOf(() => get(`/records?request=${newId('request')}`));
  const searched = plans.map(({ ns }) => String(ns).slice(database.name.length + 1));
  // Messages of providers create these; a deposit has an id that is derived from its reference.
  const others = new Set([
    'card_authorizations',
    'deposits',
    'disputes',
    'provider_events',
    'provider_event_replays',
  ]);
  const waiting = collectionsWith(attentionIndex).filter((name) => !others.has(name));
  expect(searched).toEqual(expect.arrayContaining(waiting));
});

test('the postings of a record have their legs, in the order of time, and none of another record', async () => {
  const owner = await tenant();
  const id = newId('transfer');
  const posting = (_id: string, at: string, minor: bigint) => ({
    _id,
    tenant_id: owner,
    at: new Date(at),
    legs: [
      { account: `wallet:${owner}:available`, amount_minor: -minor },
      { account: `wallet:${owner}:held`, amount_minor: minor },
    ],
  });
  await database.db
    .collection<ReturnType<typeof posting>>('postings')
    .insertMany([
      posting(`${id}/resolve`, '2026-11-27T02:00:01.000Z', -5n),
      posting(`${id}/hold`, '2026-11-27T02:00:00.000Z', 5n),
      posting(`${id}x/hold`, '2026-11-27T02:00:00.000Z', 7n),
    ]);
  const { rows } = await get(`/records/${id}/postings?tenant=${owner}`);
  expect(rows).toEqual([
    {
      id: `${id}/hold`,
      at: '2026-11-27T02:00:00.000Z',
      legs: [
        { account: `wallet:${owner}:available`, amount_minor: -5 },
        { account: `wallet:${owner}:held`, amount_minor: 5 },
      ],
    },
    expect.objectContaining({ id: `${id}/resolve` }),
  ]);
  expect((await get(`/records/${id}/postings?tenant=${await tenant()}`)).rows).toEqual([]);
});

test('the deliveries of one record are listed with its tenant', async () => {
  const owner = await tenant();
  const { delivery } = await deadDelivery(api.deps, owner);
  await deadDelivery(api.deps, owner);
  const found = await database.db
    .collection<{ _id: string; resource_id: string }>('webhook_deliveries')
    .findOne({ _id: delivery });
  const resource = found?.resource_id;
  const { rows } = await get(`/webhooks/deliveries?tenant=${owner}&resource=${resource}`);
  expect(rows).toMatchObject([{ id: delivery, resource, status: 'dead' }]);
  expect((await get(`/webhooks/deliveries?resource=${resource}`)).status).toBe(400);
});
