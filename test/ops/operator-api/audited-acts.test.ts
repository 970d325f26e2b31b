import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Filter, Document } from 'mongodb';
import type { RecurringCharge } from '../../../src/capabilities/recurring-charges/record.js';
import type { Act, AuditEntry } from '../../../src/core/audit/entry.js';
import type { Deps } from '../../../src/composition/deps.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { deadDelivery, failedEvent } from '../../support/dead-letters.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../../support/operators.js';
import { recurringCharge } from '../../support/recurring.js';

let database: TestDatabase;
let url: string;
let deps: Deps;
let operator: { id: string; key: string };
beforeAll(async () => {
  database = await openTestDatabase();
  const env = {
    MONGODB_URI: database.uri,
    BURSAR_DATABASE: database.name,
    BURSAR_KEY_PEPPER: 'a pepper that only the tests use, long enough',
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  url = String((await operatorSignIn(env))['BURSAR_OPERATOR_URL']);
  deps = await operatorDeps(env);
  operator = await createTestOperator(deps);
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

/** The audit log takes no entry of this action: the store fails at the last write of the act. */
const refuseEntries = (action: string) =>
  database.db.command({
    collMod: 'audit_log',
    validator: { action: { $ne: action } },
    validationLevel: 'strict',
  });
const takeEntries = () => database.db.command({ collMod: 'audit_log', validationLevel: 'off' });

async function post(path: string, body: object = {}): Promise<number> {
  const response = await fetch(`${url}/operator/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.status;
}

const found = (name: string, filter: Filter<Document>) => () =>
  database.db.collection(name).find(filter).sort({ _id: 1 }).toArray();
const tenant = async () => (await deps.tenants.create({ name: 'Ada', plan: 'sandbox' })).id;

type Prepared = {
  path: string;
  body?: object;
  target: string;
  state: () => Promise<Document[]>;
};
const ACTS: Record<string, [action: string, prepare: () => Promise<Prepared>]> = {
  'a delivery is sent again': [
    'webhooks.deliveries.redeliver',
    async () => {
      const { delivery: target } = await deadDelivery(deps, await tenant());
      const state = found('webhook_deliveries', { _id: target as never });
      return { path: `/webhooks/deliveries/${target}/redeliver`, target, state };
    },
  ],
  'an event is sent again': [
    'webhooks.events.replay',
    async () => {
      const { event: target } = await deadDelivery(deps, await tenant());
      const state = found('webhook_deliveries', { event_id: target });
      return { path: `/webhooks/events/${target}/replay`, target, state };
    },
  ],
  'a provider event is applied again': [
    'provider-events.replay',
    async () => {
      const target = await failedEvent(deps, 'transfer.unheard_of');
      const state = found('provider_event_replays', { event_id: target });
      return { path: `/provider-events/${target}/replay`, target, state };
    },
  ],
  'the provider events of a type are applied again': [
    'provider-events.replay',
    async () => {
      const target = await failedEvent(deps, 'transfer.another_type');
      const state = found('provider_event_replays', { event_id: target });
      const body = { type: 'transfer.another_type' };
      return { path: '/provider-events/replays', body, target, state };
    },
  ],
  'a recurring charge is cancelled': [
    'recurring-charges.cancel',
    async () => {
      const recurring = recurringCharge({ tenant_id: await tenant() });
      await database.db.collection<RecurringCharge>('recurring_charges').insertOne(recurring);
      const { _id: target } = recurring;
      const state = found('recurring_charges', { _id: target as never });
      return { path: `/recurring-charges/${target}/cancel`, target, state };
    },
  ],
  'a sealing key is retired': [
    'secrets.retire',
    async () => {
      const target = `key-${randomUUID()}`;
      const key = { _id: target, check: 'x', sealing_at: new Date(0), retired_at: null };
      await database.db.collection<typeof key>('sealing_keys').insertOne(key);
      const state = found('sealing_keys', { _id: target as never });
      return { path: '/secrets/rotate', target, state };
    },
  ],
};

test.each(Object.entries(ACTS))(
  '%s in one transaction with its entry in the audit log',
  async (_what, [action, prepare]) => {
    const { path, body, target, state } = await prepare();
    const before = await state();
    await refuseEntries(action);
    expect(await post(path, body)).toBeGreaterThanOrEqual(500);
    expect(await state()).toEqual(before);
    await takeEntries();
    expect(await post(path, body)).toBe(200);
    expect(await state()).not.toEqual(before);
    const entries = database.db.collection<AuditEntry>('audit_log').find({ target });
    expect(await entries.toArray()).toMatchObject([
      { action, actor: { operator: operator.id }, after: expect.any(Object) },
    ]);
  },
);

test('an endpoint is resumed after its entry in the audit log: without one, nothing of it is sent', async () => {
  const { delivery } = await deadDelivery(deps, await tenant());
  const deliveries = found('webhook_deliveries', { _id: delivery as never });
  const target = String((await deliveries())[0]?.['endpoint_id']);
  const endpoints = database.db.collection<{ _id: string }>('webhook_endpoints');
  const failing = { since: new Date(0), rounds: 1, retry_at: new Date() };
  await endpoints.updateOne({ _id: target }, { $set: { failing, parked_at: new Date() } });
  const at = [{ at: new Date(), status: 500, error: null, duration_ms: 1 }];
  await database.db
    .collection<{ _id: string }>('webhook_deliveries')
    .updateOne({ _id: delivery }, { $set: { attempts: at } });
  const before = [await deliveries(), await endpoints.findOne({ _id: target })];

  await refuseEntries('webhooks.endpoints.resume');
  const path = `/webhooks/endpoints/${target}/resume`;
  expect(await post(path)).toBeGreaterThanOrEqual(500);
  expect([await deliveries(), await endpoints.findOne({ _id: target })]).toEqual(before);
  await takeEntries();
  expect(await post(path)).toBe(200);
  expect(await deliveries()).toMatchObject([{ status: 'retrying' }]);
  expect(await endpoints.findOne({ _id: target })).toMatchObject({ failing: null });
  const entries = database.db.collection<AuditEntry>('audit_log').find({ target });
  expect(await entries.toArray()).toMatchObject([
    { action: 'webhooks.endpoints.resume', before: expect.any(Object) },
  ]);
});

test('the entry of a delivery that is sent again has the state before it, also if an attempt ends after the request has come', async () => {
  const { delivery: target } = await deadDelivery(deps, await tenant());
  // Acts of one process are carried out one after the other: the request waits for this one.
  let release: (nothing: null) => void = () => {};
  const gate = new Promise<null>((resolve) => (release = resolve));
  const waiting = deps.audit.note({} as Act, () => gate);
  const sent = post(`/webhooks/deliveries/${target}/redeliver`);
  await sleep(1_000);
  await database.db
    .collection<{ _id: string }>('webhook_deliveries')
    .updateOne({ _id: target }, { $set: { status: 'delivered' } });
  release(null);
  await waiting;
  expect(await sent).toBe(200);
  const entry = await database.db.collection<AuditEntry>('audit_log').findOne({ target });
  expect(entry).toMatchObject({ before: { status: 'delivered' }, after: { status: 'pending' } });
});
