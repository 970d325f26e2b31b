import type { ActivityDeps } from '../../../activities/index.js';
import { withEmptyParts } from '../../support/parts.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { Worker } from '@temporalio/worker';
import { loadConfig } from '../../../src/shared/config.js';
import { findEngine } from '../../../devstack/find.js';
import { createLog } from '../../../src/shared/log.js';
import { newDelivery } from '../../../src/core/webhooks/deliveries.js';
import type { Delivery } from '../../../src/core/webhooks/event.js';
import {
  DELIVERY_ROUNDS,
  deliveryWorkflowId,
} from '../../../src/core/webhooks/workflow-contract.js';
import { webhooksQueue } from '../../../src/platform/temporal/queues.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { createWebhooks, type Webhooks } from '../../../src/core/webhooks/index.js';
import { createWorkers } from '../../../worker/worker.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { installQuietRuntime } from '../../support/quiet-runtime.js';

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
const PARK_AFTER_DAYS = 3;
const TASK_QUEUE = 'webhooks-of-the-tests';

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let webhooks: Webhooks;
let receiver: Receiver;
let workers: Worker[] = [];
let running: Promise<void[]>;
/** The rounds of each endpoint. */
const rounds = new Map<string, Webhooks['deliverWaiting']>();
/** The time of Temporal's skipping clock, as the last round has read it. */
let now = new Date();

beforeAll(async () => {
  installQuietRuntime();
  const { binary } = await findEngine('temporal-test-server', process.env, () => undefined);
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: binary } },
  });
  database = await openTestDatabase();
  receiver = await startReceiver(500);
  const config = loadConfig({
    MONGODB_URI: database.uri,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    BURSAR_WEBHOOK_PARK_AFTER_DAYS: String(PARK_AFTER_DAYS),
  });
  webhooks = createWebhooks({
    database,
    client: environment.client,
    config,
    sealing: createSealing(config.sealingKeys),
    log: createLog({ level: 'silent', name: 'test' }),
    clock: () => now,
  });
  workers = await createWorkers({
    connection: environment.nativeConnection,
    namespace: 'default',
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: String(process.env.BURSAR_TEST_BUNDLE) },
    providers: [],
    activities: withEmptyParts<ActivityDeps>({ webhooks: { deliverWaiting } }),
  });
  running = Promise.all(workers.map((worker) => worker.run()));
});
afterAll(async () => {
  for (const worker of workers) worker.shutdown();
  await running;
  await webhooks?.close();
  await receiver?.close();
  await database?.close();
  await environment?.teardown();
});

async function deliverWaiting(endpoint: string) {
  const round = rounds.get(endpoint);
  if (!round) throw new Error(`there are no rounds of ${endpoint}`);
  return round(endpoint);
}

let sequence = 0;

/** An endpoint, for which this number of deliveries waits. The first attempt of the first one has failed. */
async function waiting(
  count = 1,
  { resources = 1 } = {},
): Promise<{ endpoint: string; deliveries: Delivery[] }> {
  sequence += 1;
  const tenant = `ten_${sequence}`;
  const added = await webhooks.endpoints.add(tenant, receiver.url);
  const endpoint = String(added?.id);
  const begin = await environment.currentTimeMs();
  const made = Array.from({ length: count }, (_, i) => {
    const event = {
      _id: `evt_${sequence}_${i}`,
      tenant_id: tenant,
      resource_id: `trf_${sequence}_${i % resources}`,
      name: 'transfer.completed',
      sequence: i + 1,
      body: JSON.stringify({ id: `evt_${sequence}_${i}` }),
      created_at: new Date(begin + i),
    };
    const retryAt = i === 0 ? new Date(begin + Number(PROMISED_MS[0])) : event.created_at;
    const delivery: Delivery = {
      ...newDelivery(event, endpoint, new Date()),
      status: 'retrying',
      attempt_count: i === 0 ? 1 : 0,
      retry_at: retryAt,
    };
    return { event, deliveries: [delivery] };
  });
  await webhooks.deliveries.insert(made);
  return { endpoint, deliveries: made.flatMap(({ deliveries }) => deliveries) };
}

/** Runs the endpoint's workflow to its end. Returns the times of the attempts on the time-skipping clock. */
async function run(endpoint: string): Promise<number[]> {
  const times: number[] = [];
  await runWith(endpoint, async () => {
    now = new Date(await environment.currentTimeMs());
    const before = receiver.received.length;
    const result = await webhooks.deliverWaiting(endpoint);
    if (receiver.received.length > before) times.push(now.getTime());
    return result;
  });
  return times;
}

/** Runs the endpoint's workflow with these rounds. */
async function runWith(endpoint: string, round: Webhooks['deliverWaiting']): Promise<void> {
  rounds.set(endpoint, round);
  const handle = await environment.client.workflow.start('webhookDelivery', {
    workflowId: deliveryWorkflowId(endpoint),
    taskQueue: webhooksQueue(TASK_QUEUE),
    args: [{ id: endpoint }],
  });
  await handle.result();
}

const statesOf = async (deliveries: readonly Delivery[]) =>
  (await Promise.all(deliveries.map(({ _id }) => webhooks.deliveries.get(_id)))).map(
    (found) => found?.status,
  );

beforeEach(() => receiver.behave(500));

test('a delivery to a receiver that is down for days is attempted at the documented times, and is dead after the last', async () => {
  const { endpoint, deliveries } = await waiting();
  const begin = await environment.currentTimeMs();
  const before = receiver.received.length;
  const times = await run(endpoint);
  const pauses = times.map((time, i) => time - (times[i - 1] ?? begin));
  expect(pauses).toHaveLength(PROMISED_MS.length);
  pauses.forEach((pause, i) => {
    expect(Math.abs(pause - Number(PROMISED_MS[i]))).toBeLessThanOrEqual(GRAIN_MS);
  });
  expect(await webhooks.deliveries.get(String(deliveries[0]?._id))).toMatchObject({
    status: 'dead',
    next_check_at: null,
    retry_at: null,
  });
  expect(receiver.received.length - before).toBe(PROMISED_MS.length);
});

test('a receiver that is back after hours gets everything that waits, oldest first', async () => {
  const { endpoint, deliveries } = await waiting(250);
  const before = receiver.received.length;
  receiver.behave((response) =>
    response.writeHead(receiver.received.length - before < 20 ? 503 : 200).end(),
  );
  await run(endpoint);
  expect(new Set(await statesOf(deliveries))).toEqual(new Set(['delivered']));
  // All are events of one resource. A round to a failing endpoint tries few of them, each one when its time has come.
  const taken = receiver.received.slice(before + 20).map(({ body }) => JSON.parse(body).id);
  const last = taken.slice(-200);
  expect(last).toEqual(deliveries.slice(-200).map(({ event_id: id }) => id));
});

test('what has waited is sent at a pace: at most eight at once', async () => {
  const { endpoint, deliveries } = await waiting(120, { resources: 120 });
  let [open, most] = [0, 0];
  receiver.behave((response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.writeHead(200).end();
    }, 20);
  });
  await run(endpoint);
  expect(new Set(await statesOf(deliveries))).toEqual(new Set(['delivered']));
  expect(most).toBeLessThanOrEqual(8);
});

test('an endpoint that fails for three days is parked after few attempts, and all of its deliveries stay', async () => {
  const { endpoint, deliveries } = await waiting(500);
  const before = receiver.received.length;
  const begin = await environment.currentTimeMs();
  const times = await run(endpoint);
  expect(Number(times.at(-1)) - begin).toBeGreaterThanOrEqual(PARK_AFTER_DAYS * 24 * HOUR);
  expect(receiver.received.length - before).toBeLessThan(60);
  expect(new Set(await statesOf(deliveries))).toEqual(new Set(['retrying']));
  const tenant = String(deliveries[0]?.tenant_id);
  expect(await webhooks.endpoints.list(tenant)).toMatchObject([{ status: 'parked' }]);
});

test('the run of a long queue continues as new before its history is long', async () => {
  let rounds = 0;
  await runWith('whe_long_queue', async () => {
    rounds += 1;
    return rounds < 2 * DELIVERY_ROUNDS ? { kind: 'waiting', afterMs: 0 } : { kind: 'closed' };
  });
  const { workflow } = environment.client;
  const { events = [] } = await workflow
    .getHandle(deliveryWorkflowId('whe_long_queue'))
    .fetchHistory();
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).toMatch(
    /./,
  );
  expect(events?.length).toBeLessThan(3_000);
});

test('a delivery that was delivered or cancelled meanwhile is not sent again', async () => {
  const { endpoint, deliveries } = await waiting();
  await webhooks.deliveries.record({ of: deliveries[0] as Delivery, kind: 'cancelled' });
  const before = receiver.received.length;
  await run(endpoint);
  expect(receiver.received).toHaveLength(before);
});
