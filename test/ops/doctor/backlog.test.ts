import {
  newOperation,
  type CardOperation,
} from '../../../src/capabilities/cards/card-operation.js';
import { examineBacklog } from '../../../src/ops/doctor/backlog.js';
import { newId } from '../../../src/shared/ids.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { toOutgoing } from '../../../src/core/webhooks/deliveries.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { pendingTransfer } from '../../support/transfers.js';
import { BACKLOG_ROWS } from '../../support/backlog-rows.js';

const NOW = new Date('2026-11-21T09:00:00.000Z');
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

let database: TestDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

/** The rows of the backlog: whether each check passes, with its detail. */
const rows = async () =>
  Object.fromEntries(
    (await examineBacklog(database.db, { now: NOW, claimedForMs: 50_000 })).map(
      ({ check, ok, detail }) => [check, [ok, detail]],
    ),
  );

const insert = (transfer: Transfer) =>
  database.db.collection<Transfer>('transfers').insertOne({
    ...transfer,
    version: 1,
  });

async function insertDelivery(changes: object) {
  const draft = { tenantId: 't', resource: newId('transfer'), name: 'n', sequence: 1 };
  const { deliveries } = toOutgoing(
    { ...draft, at: ago(500_000), data: {} },
    [{ id: 'whe_a' }],
    NOW,
  );
  await database.db
    .collection('webhook_deliveries')
    .insertOne({ ...deliveries[0], ...changes } as object);
}

test('doctor passes every backlog check while nothing waits', async () => {
  expect(await rows()).toEqual(
    Object.fromEntries(BACKLOG_ROWS.map((row) => [row, [true, 'none']])),
  );
});

test('doctor accepts a record that has been overdue for a moment, and reports one that no worker takes up', async () => {
  await insert(pendingTransfer({ next_check_at: ago(-3600) }));
  await insert(pendingTransfer({ next_check_at: ago(5) }));
  expect(await rows()).toMatchObject({ 'transfers: overdue': [true, 'the oldest for 5 s'] });
  await insert(pendingTransfer({ next_check_at: ago(3 * 3600) }));
  expect(await rows()).toMatchObject({ 'transfers: overdue': [false, 'the oldest for 3 h'] });
});

test('doctor reports the transfers that wait for an operator, with the longest wait', async () => {
  const attention = (seconds: number) => ({ since: ago(seconds), reason: 'stuck' });
  await insert(pendingTransfer({ attention: attention(60) }));
  await insert(pendingTransfer({ attention: attention(600) }));
  expect(await rows()).toMatchObject({
    'transfers: attention': [false, '2 wait for an operator, the oldest for 10 min'],
  });
});

test('doctor reports card operations that wait for a worker or an operator', async () => {
  const operation = newOperation(
    { tenant_id: 'ten_a', card_id: 'crd_a', type: 'issue', provider: 'p' },
    ago(300),
    'accepted',
  );
  await database.db.collection<CardOperation>('card_operations').insertOne({
    ...operation,
    attention: { since: ago(120), reason: 'stuck' },
  });
  expect(await rows()).toMatchObject({
    'cards: overdue': [false, 'the oldest for 5 min'],
    'cards: attention': [false, '1 wait for an operator, the oldest for 2 min'],
  });
});

test('doctor reports provider events that are not applied, and those that wait for a replay', async () => {
  let events = 0;
  const event = (changes: object) =>
    database.db.collection('provider_events').insertOne({
      tenant_id: null,
      card_id: null,
      provider: 'p',
      dedupe_key: String((events += 1)),
      event: 'card.funded',
      port: 'cards',
      facts: [],
      status: 'received',
      received_at: ago(300),
      next_check_at: null,
      ...changes,
    });
  await event({ next_check_at: ago(5) });
  expect(await rows()).toMatchObject({
    'provider-events: overdue': [true, 'the oldest for 5 s'],
    'provider-events: attention': [true, 'none'],
  });
  await event({ status: 'failed', attention: { since: ago(60), reason: 'not there' } });
  expect(await rows()).toMatchObject({
    'provider-events: attention': [false, '1 wait for an operator, the oldest for 60 s'],
  });
  await event({ next_check_at: ago(240) });
  expect(await rows()).toMatchObject({
    'provider-events: overdue': [false, 'the oldest for 4 min'],
  });
});

test('doctor accepts deliveries that wait for their receiver, and reports one that no worker takes up', async () => {
  await insertDelivery({ status: 'retrying', next_check_at: ago(-600) });
  expect(await rows()).toMatchObject({
    'webhooks: undelivered': [true, '1, the oldest for 6 days'],
  });
  await insertDelivery({ status: 'retrying', next_check_at: ago(600) });
  expect(await rows()).toMatchObject({
    'webhooks: undelivered': [false, '2, the oldest for 6 days; overdue for 10 min'],
  });
});

test('doctor reports a delivery that died within a day, and only counts an older one', async () => {
  const dead = (seconds: number) => ({
    status: 'dead',
    next_check_at: null,
    attempts: [{ at: ago(seconds), status: 500, error: 'refused', duration_ms: 1 }],
  });
  await insertDelivery(dead(7 * 86_400));
  expect(await rows()).toMatchObject({
    'webhooks: given up': [true, '1, 0 of them in the last 24 hours'],
  });
  await insertDelivery(dead(60));
  expect(await rows()).toMatchObject({
    'webhooks: given up': [false, '2, 1 of them in the last 24 hours'],
  });
});

test('doctor reports parked endpoints, and an endpoint whose workflow is gone', async () => {
  const endpoint = (changes: object) => ({
    tenant_id: 'ten_a',
    url: 'https://shop.example',
    status: 'enabled',
    secrets: [{ sealed: '', created_at: ago(1), expires_at: null }],
    created_at: ago(1),
    updated_at: ago(1),
    ...changes,
  });
  const endpoints = database.db.collection('webhook_endpoints');
  await endpoints.insertOne(endpoint({ status: 'parked', parked_at: ago(600) }));
  expect(await rows()).toMatchObject({
    'webhooks: parked endpoints': [false, '1, the first one for 10 min'],
  });
  await insertDelivery({ status: 'retrying', next_check_at: ago(-600) });
  await endpoints.insertOne(endpoint({ next_check_at: ago(600) }));
  expect(await rows()).toMatchObject({
    'webhooks: undelivered': [false, '1, the oldest for 6 days; overdue for 10 min'],
  });
});

test('doctor reports records that are claimed again and again, and never get on, as overdue since before their claims', async () => {
  const later = new Date(NOW.getTime() + 40_000);
  const claimed = { next_check_at: later, claim: { by: 'a', until: later, from: ago(600) } };
  const goneOn = new Date(NOW.getTime() + 30_000);
  await insert({ ...pendingTransfer({}), ...claimed });
  await insert({ ...pendingTransfer({}), ...claimed, next_check_at: goneOn });
  await insertDelivery({ status: 'retrying', next_check_at: ago(-600) });
  await database.db.collection('webhook_endpoints').insertOne({
    tenant_id: 'ten_a',
    url: 'https://shop.example',
    status: 'enabled',
    secrets: [{ sealed: '', created_at: ago(1), expires_at: null }],
    created_at: ago(1),
    updated_at: ago(1),
    ...claimed,
    claim: { ...claimed.claim, from: ago(300) },
  });
  expect(await rows()).toMatchObject({
    'transfers: overdue': [false, 'the oldest for 10 min'],
    'webhooks: undelivered': [false, '1, the oldest for 6 days; overdue for 5 min'],
  });
});
