import {
  newProviderEvent,
  type ProviderEventReplay,
  type ProviderEvent,
} from '../../../src/core/provider-events/event.js';
import { createProviderEventRetention } from '../../../src/core/provider-events/retention.js';
import { createProviderEventStore } from '../../../src/core/provider-events/store.js';
import { newId } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const newEvent = () =>
  newProviderEvent(
    {
      provider: 'sandbox-bank',
      port: 'cards',
      dedupeKey: newId('event'),
      event: 'card.funded',
      reading: 'event',
      facts: [
        {
          subject: 'funding',
          reference: newId('cardOperation'),
          state: { kind: 'funded', amountMinor: 5n },
        },
      ],
      message: null,
      occurred_at: null,
    },
    new Date(),
  );

/** An event that has been replayed once, in a state. */
async function insert(status: 'processed' | 'received' | 'failed'): Promise<string> {
  const store = createProviderEventStore(database, 1_000);
  const event = newEvent();
  await store.insert(event);
  if (status === 'processed') await store.processed(event._id, 'applied');
  if (status === 'failed') await store.fail(event._id, 'not there');
  await database.db.collection<Partial<ProviderEventReplay>>('provider_event_replays').insertOne({
    _id: newId('providerEventReplay'),
    tenant_id: 'ten_a',
    event_id: event._id,
    status: 'completed',
    created_at: new Date(),
  });
  return event._id;
}

async function removeOld(daysFromNow: number): Promise<void> {
  const clock = () => new Date(Date.now() + daysFromNow * DAY_MS);
  const page = createProviderEventRetention({ db: database.db, retentionMs: 90 * DAY_MS, clock });
  while ((await page()).more);
}

const left = async (id: string) => [
  await database.db.collection('provider_events').countDocuments({ _id: id as never }),
  await database.db.collection('provider_event_replays').countDocuments({ event_id: id }),
];

test('an old event that was processed is deleted with its replays; one that was not is never deleted', async () => {
  const [done, waiting, failed] = [
    await insert('processed'),
    await insert('received'),
    await insert('failed'),
  ];
  await removeOld(89);
  expect(await left(done)).toEqual([1, 1]);
  await removeOld(91);
  expect(await left(done)).toEqual([0, 0]);
  expect(await left(waiting)).toEqual([1, 1]);
  expect(await left(failed)).toEqual([1, 1]);
});

test('more old events than a page are deleted too', async () => {
  const events = database.db.collection<ProviderEvent>('provider_events');
  const done = Array.from({ length: 501 }, () => ({
    ...newEvent(),
    status: 'processed' as const,
    next_check_at: null,
  }));
  await events.insertMany(done);
  await removeOld(91);
  expect(await events.countDocuments({ _id: { $in: done.map(({ _id }) => _id) } })).toBe(0);
});
