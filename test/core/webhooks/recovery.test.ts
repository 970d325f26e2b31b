import type { Client } from '@temporalio/client';
import { deliveriesCollection } from '../../../src/core/webhooks/deliveries.js';
import type { Delivery } from '../../../src/core/webhooks/event.js';
import { createWebhooks, type Webhooks } from '../../../src/core/webhooks/index.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { loadConfig } from '../../../src/shared/config.js';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { linesInto } from '../../support/log-lines.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';

let database: TestDatabase;
let receiver: Receiver;
let webhooks: Webhooks;
const lines: string[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  receiver = await startReceiver();
  const config = loadConfig({
    MONGODB_URI: database.uri,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
  });
  webhooks = createWebhooks({
    database,
    // The receiver answers, so no workflow is started.
    client: {} as Client,
    config,
    sealing: createSealing(config.sealingKeys),
    log: createLog({ level: 'error', name: 'test', destination: linesInto(lines) }),
  });
});
afterAll(async () => {
  await webhooks?.close();
  await receiver?.close();
  await database?.close();
});

const recover = (limit: number) => webhooks.recover(limit, () => undefined);

test('a delivery that its validator refuses is logged, and keeps no other from being recovered', async () => {
  const tenantId = newId('tenant');
  await webhooks.endpoints.add(tenantId, receiver.url);
  const resource = newId('transfer');
  const drafts = ['transfer.processing', 'transfer.completed', 'transfer.reversed'].map(
    (name, i) => ({
      tenantId,
      resource,
      name,
      sequence: i + 1,
      at: new Date(),
      data: { id: resource, status: name },
    }),
  );
  // The process that wrote them dies before it delivers them.
  const outgoing = await webhooks.outbox.address(drafts);
  await database.client.withSession((session) => webhooks.outbox.write(outgoing, session));
  const deliveries = database.db.collection<Delivery>(deliveriesCollection.name);
  const ids = outgoing.flatMap((one) => one.deliveries.map(({ _id }) => _id));
  for (const [i, _id] of ids.entries()) {
    const $set = {
      next_check_at: new Date(Date.now() - 60_000 + i),
      ...(i === 0 && { attempt_count: -1 }),
    };
    await deliveries.updateOne({ _id }, { $set }, { bypassDocumentValidation: true });
  }

  expect(await recover(2)).toEqual({ found: 1, more: true });
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ resource: ids[0], tenant: tenantId }),
  ]);
  expect(await recover(2)).toEqual({ found: 1, more: false });
  await eventually('the others are delivered', async () =>
    (await deliveries.countDocuments({ status: 'delivered' })) === 2 ? true : undefined,
  );
  expect(receiver.events(resource)).toHaveLength(2);
});

test('a page of refused deliveries alone is not read again at once', async () => {
  const deliveries = database.db.collection<Delivery>(deliveriesCollection.name);
  const refused = { next_check_at: new Date(0), attempt_count: -1 };
  await deliveries.updateMany({}, { $set: refused }, { bypassDocumentValidation: true });
  const before = lines.length;
  expect(await recover(2)).toEqual({ found: 0, more: false });
  expect(lines.length).toBe(before + 2);
});
