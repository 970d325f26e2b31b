import { firstIdAt, newId } from '../../../src/shared/ids.js';
import {
  createDeliveries,
  toOutgoing,
  type Outgoing,
} from '../../../src/core/webhooks/deliveries.js';
import type { DeliveryStatus } from '../../../src/core/webhooks/event.js';
import { createRetention } from '../../../src/core/webhooks/retention.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const RETENTION_MS = 90 * DAY_MS;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** An event with a delivery in each of these states. */
function eventWith(...statuses: DeliveryStatus[]): Outgoing {
  const draft = {
    tenantId: 'ten_a',
    resource: newId('transfer'),
    name: 'transfer.completed',
    sequence: 1,
    at: new Date(),
    data: {},
  };
  const endpoints = statuses.map(() => ({ id: newId('webhookEndpoint') }));
  const { event, deliveries } = toOutgoing(draft, endpoints, new Date());
  const inState = deliveries.map((delivery, i) => {
    const status = statuses[i] as DeliveryStatus;
    const open = status === 'pending' || status === 'retrying';
    return { ...delivery, status, next_check_at: open ? delivery.next_check_at : null };
  });
  return { event, deliveries: inState };
}

/** Returns the ids of the events. */
async function insert(...outgoing: Outgoing[]): Promise<string[]> {
  await createDeliveries(database).insert(outgoing);
  return outgoing.map(({ event }) => event._id);
}

async function removeOld(daysFromNow: number): Promise<void> {
  const clock = () => new Date(Date.now() + daysFromNow * DAY_MS);
  const page = createRetention({ db: database.db, retentionMs: RETENTION_MS, clock });
  for (let after: string | null = ''; after !== null;) after = (await page(after)).next;
}

const left = async (id: string) => ({
  event: await database.db.collection('webhook_events').countDocuments({ _id: id as never }),
  deliveries: await database.db.collection('webhook_deliveries').countDocuments({ event_id: id }),
});

test('old events are deleted when all their deliveries are terminal, and never before', async () => {
  const [delivered = '', waiting = ''] = await insert(
    eventWith('delivered', 'dead', 'cancelled'),
    eventWith('delivered', 'retrying', 'pending'),
  );
  await removeOld(89);
  expect(await left(delivered)).toEqual({ event: 1, deliveries: 3 });

  await removeOld(91);
  expect(await left(delivered)).toEqual({ event: 0, deliveries: 0 });
  // Its other delivery still needs the event.
  expect(await left(waiting)).toEqual({ event: 1, deliveries: 3 });

  await database.db
    .collection('webhook_deliveries')
    .updateMany({ event_id: waiting }, { $set: { status: 'delivered', next_check_at: null } });
  await removeOld(91);
  expect(await left(waiting)).toEqual({ event: 0, deliveries: 0 });
});

test('an old event that waits for a parked endpoint only is deleted', async () => {
  const outgoing = eventWith('retrying', 'delivered');
  const [id = ''] = await insert(outgoing);
  const [waiting] = outgoing.deliveries;
  await removeOld(91);
  expect(await left(id)).toEqual({ event: 1, deliveries: 2 });

  await database.db.collection<{ _id: string }>('webhook_endpoints').insertOne({
    _id: String(waiting?.endpoint_id),
    tenant_id: 'ten_a',
    url: 'https://shop.example',
    status: 'parked',
    secrets: [{ sealed: '', created_at: new Date(), expires_at: null }],
    created_at: new Date(),
    updated_at: new Date(),
    parked_at: new Date(),
  } as object as { _id: string });
  await removeOld(89);
  expect(await left(id)).toEqual({ event: 1, deliveries: 2 });
  await removeOld(91);
  expect(await left(id)).toEqual({ event: 0, deliveries: 0 });
});

test('retention deletes more than one page of events', async () => {
  const ids = await insert(...Array.from({ length: 501 }, () => eventWith('delivered')));
  await removeOld(91);
  const events = database.db.collection<{ _id: string }>('webhook_events');
  expect(await events.countDocuments({ _id: { $in: ids } })).toBe(0);
});

test('the boundary id of a time sorts after all earlier ids and before all later ones', () => {
  const at = Date.now();
  const made = newId('event');
  expect(firstIdAt('event', new Date(at)) < made).toBe(true);
  expect(firstIdAt('event', new Date(at + 60_000)) > made).toBe(true);
});
