import type { ActivityDeps } from '../../../activities/index.js';
import { withEmptyParts } from '../../support/parts.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { loadConfig } from '../../../src/shared/config.js';
import { findEngine } from '../../../devstack/find.js';
import { createLog } from '../../../src/shared/log.js';
import { newDelivery } from '../../../src/core/webhooks/deliveries.js';
import type { Delivery } from '../../../src/core/webhooks/event.js';
import { deliveryWorkflowId } from '../../../src/core/webhooks/workflow-contract.js';
import { webhooksQueue } from '../../../src/platform/temporal/queues.js';
import { createWebhooks, type Webhooks } from '../../../src/core/webhooks/index.js';
import { createWorkers } from '../../../worker/worker.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** The pauses between attempts that the API's documentation guarantees. */
const PROMISED_MS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
/** The skipping clock's own steps. */
const GRAIN_MS = 2_000;

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let webhooks: Webhooks;
let receiver: Receiver;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { binary } = await findEngine('temporal-test-server', process.env, () => undefined);
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: binary } },
  });
  database = await openTestDatabase();
  receiver = await startReceiver(500);
  webhooks = createWebhooks({
    database,
    client: environment.client,
    config: loadConfig({
      MONGODB_URI: database.uri,
      BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
      SANDBOX_BANK_SECRET: 'a secret of the tests',
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    }),
    log: createLog({ level: 'silent', name: 'test' }),
  });
});
afterAll(async () => {
  await webhooks?.close();
  await receiver?.close();
  await database?.close();
  await environment?.teardown();
});

let sequence = 0;

/** A delivery whose first attempt has failed. */
async function failedOnce(): Promise<Delivery> {
  sequence += 1;
  const endpoint = await webhooks.endpoints.add(`ten_${sequence}`, receiver.url);
  const event = {
    _id: `evt_${sequence}`,
    tenant_id: `ten_${sequence}`,
    resource_id: 'trf_1',
    name: 'transfer.completed',
    sequence,
    body: '{}',
    created_at: new Date(),
  };
  const delivery = newDelivery(event, String(endpoint?.id), new Date());
  await webhooks.deliveries.insert([
    { event, deliveries: [{ ...delivery, status: 'retrying', attempt_count: 1 }] },
  ]);
  return delivery;
}

/** Runs the delivery's workflow to its end; returns the time of each attempt on the time-skipping clock. */
async function run({ _id: id }: Delivery): Promise<number[]> {
  const workers = await createWorkers({
    connection: environment.nativeConnection,
    namespace: 'default',
    taskQueue: id,
    workflowBundle: { codePath: String(process.env.BURSAR_TEST_BUNDLE) },
    providers: [],
    activities: withEmptyParts<ActivityDeps>({ webhooks }),
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  try {
    const handle = await environment.client.workflow.start('webhookDelivery', {
      workflowId: deliveryWorkflowId(id),
      taskQueue: webhooksQueue(id),
      args: [{ id, attemptCount: 1, afterMs: PROMISED_MS[0], scheduleMs: PROMISED_MS }],
    });
    await handle.result();
    const { events } = await handle.fetchHistory();
    const times = (events ?? []).flatMap((event) =>
      event.workflowExecutionStartedEventAttributes || event.activityTaskStartedEventAttributes
        ? [Number(event.eventTime?.seconds) * 1000]
        : [],
    );
    return times;
  } finally {
    for (const worker of workers) worker.shutdown();
    await running;
  }
}

test('a delivery to a receiver that is down for days is attempted at the documented times, and is dead after the last', async () => {
  const delivery = await failedOnce();
  const times = await run(delivery);
  const pauses = times.slice(1).map((time, i) => time - Number(times[i]));
  expect(pauses).toHaveLength(PROMISED_MS.length);
  pauses.forEach((pause, i) => {
    expect(Math.abs(pause - Number(PROMISED_MS[i]))).toBeLessThanOrEqual(GRAIN_MS);
  });
  expect(await webhooks.deliveries.get(delivery._id)).toMatchObject({
    status: 'dead',
    next_check_at: null,
  });
  expect(receiver.received).toHaveLength(PROMISED_MS.length);
});

test('a receiver that is back after hours gets the delivery once, at the next documented time', async () => {
  const delivery = await failedOnce();
  const before = receiver.received.length;
  receiver.behave((response) =>
    response.writeHead(receiver.received.length - before < 4 ? 503 : 200).end(),
  );
  const times = await run(delivery);
  expect(times).toHaveLength(1 + 4);
  const stored = await webhooks.deliveries.get(delivery._id);
  expect(stored).toMatchObject({ status: 'delivered', attempt_count: 5, next_check_at: null });
  expect(stored?.attempts.map(({ status }) => status)).toEqual([503, 503, 503, 200]);
});

test('a delivery that was delivered or cancelled meanwhile is not sent again', async () => {
  const delivery = await failedOnce();
  await webhooks.deliveries.record({ of: delivery, kind: 'cancelled' });
  const before = receiver.received.length;
  await run(delivery);
  expect(receiver.received).toHaveLength(before);
});
