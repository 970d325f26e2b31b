import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Webhook } from 'standardwebhooks';
import type { EventDraft } from '../../../src/core/webhooks/event.js';
import { EVENT_PATTERN, fitsAny } from '../../../src/core/webhooks/event-filter.js';
import { createWebhooks, type Webhooks } from '../../../src/core/webhooks/index.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { loadConfig } from '../../../src/shared/config.js';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';

let database: TestDatabase;
let webhooks: Webhooks;
const receivers: Receiver[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  const config = loadConfig({
    MONGODB_URI: database.uri,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
  });
  webhooks = createWebhooks({
    database,
    // The receivers answer, so no workflow is started.
    client: {} as Client,
    config,
    sealing: createSealing(config.sealingKeys),
    log: createLog({ level: 'silent', name: 'test' }),
  });
});
afterAll(async () => {
  await webhooks?.close();
  for (const receiver of receivers) await receiver.close();
  await database?.close();
});

async function endpointOf(tenantId: string, events?: string[]) {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const added = await webhooks.endpoints.add(tenantId, receiver.url, { events });
  if (!added) throw new Error('the endpoint was not added');
  return { ...added, receiver };
}

/** Emits the events of one transfer, as a commit does. Returns its id. */
async function emit(tenantId: string, names: readonly string[]): Promise<string> {
  const resource = newId('transfer');
  const drafts = names.map((name, i): EventDraft => {
    const data = { id: resource, status: name };
    return { tenantId, resource, name, sequence: i + 1, at: new Date(), data };
  });
  const outgoing = await webhooks.outbox.address(drafts);
  await database.client.withSession((session) => webhooks.outbox.write(outgoing, session));
  webhooks.outbox.send(outgoing);
  return resource;
}

const arrived = (receiver: Receiver, resource: string, count: number) =>
  eventually(`${count} events of ${resource}`, () => {
    const events = receiver.events(resource);
    return events.length >= count ? events : undefined;
  });

const deliveriesOf = (tenantId: string) =>
  webhooks.deliveries.list({ tenantId, dead: false, limit: 100 });

/** Every process applies a change of an endpoint in this time. */
const APPLIED_WITHIN_MS = 1_000;
const NAMES = ['transfer.processing', 'transfer.completed', 'transfer.reversed'];

test('a filtered event makes no delivery, is not stored if no endpoint takes it, and keeps its number', async () => {
  const tenantId = newId('tenant');
  const { receiver } = await endpointOf(tenantId, ['transfer.completed', 'card.*']);
  const id = await emit(tenantId, NAMES);
  const events = await arrived(receiver, id, 1);
  expect(events.map(({ event, sequence }) => [event, sequence])).toEqual([
    ['transfer.completed', 2],
  ]);
  expect((await deliveriesOf(tenantId)).map(({ name }) => name)).toEqual(['transfer.completed']);
  const stored = database.db.collection('webhook_events').find({ tenant_id: tenantId });
  expect((await stored.toArray()).map(({ name }) => name as unknown)).toEqual([
    'transfer.completed',
  ]);
});

test('each endpoint gets the events of its own filter, and a replay keeps to it', async () => {
  const tenantId = newId('tenant');
  const few = await endpointOf(tenantId, ['*.reversed']);
  const every = await endpointOf(tenantId);
  const id = await emit(tenantId, NAMES);
  const events = await arrived(every.receiver, id, 3);
  await arrived(few.receiver, id, 1);
  const completed = events.find(({ event }) => event === 'transfer.completed');
  expect(await webhooks.replay(String(completed?.id))).toHaveLength(1);
  await webhooks.recover(100, () => undefined);
  await arrived(every.receiver, id, 4);
  expect(few.receiver.events().map(({ event }) => event)).toEqual(['transfer.reversed']);
});

test('another filter applies to events from then on, and none to all', async () => {
  const tenantId = newId('tenant');
  const { id, receiver } = await endpointOf(tenantId, ['transfer.*']);
  expect(await webhooks.endpoints.filter(id, ['card.*'])).toMatchObject({ events: ['card.*'] });
  await sleep(APPLIED_WITHIN_MS);
  await emit(tenantId, ['transfer.completed']);
  expect(await deliveriesOf(tenantId)).toEqual([]);
  expect(await webhooks.endpoints.filter(id, null)).toMatchObject({ events: null });
  await sleep(APPLIED_WITHIN_MS);
  await arrived(receiver, await emit(tenantId, ['transfer.failed']), 1);
});

test('ping is signed, reaches an endpoint in spite of its filter, and counts in the sequence of no resource', async () => {
  const tenantId = newId('tenant');
  const { id: endpoint, secret, receiver } = await endpointOf(tenantId, ['card.*']);
  for (const _ of [1, 2]) {
    const ping = await webhooks.ping({ id: endpoint, tenantId });
    const event = String(ping?.event);
    await webhooks.recover(100, () => undefined);
    await arrived(receiver, event, 1);
    const message = receiver.received.find(({ body }) => JSON.parse(body).id === event);
    const headers = message?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(String(message?.body), headers)).toEqual({
      id: event,
      event: 'endpoint.ping',
      type: 'endpoint.ping',
      created_at: expect.any(String),
      sequence: 1,
      data: { id: event, endpoint_id: endpoint },
    });
  }
});

test('no test event is written for a disabled endpoint', async () => {
  const tenantId = newId('tenant');
  const { id: endpoint } = await endpointOf(tenantId);
  await webhooks.disableEndpoint(endpoint);
  expect(await webhooks.ping({ id: endpoint, tenantId })).toBeNull();
  expect(await deliveriesOf(tenantId)).toEqual([]);
});

test.each([
  ['transfer.completed', true],
  ['transfer.*', true],
  ['*.completed', true],
  ['*', true],
  ['transfer*completed', true],
  ['transfer.complete', false],
  ['card.*', false],
  ['transfer.completed*transfer.completed', false],
])('the pattern %s fits transfer.completed: %s', (pattern, fits) => {
  expect(pattern).toMatch(EVENT_PATTERN);
  expect(fitsAny([pattern], 'transfer.completed')).toBe(fits);
});
