import { randomUUID } from 'node:crypto';
import type { Failpoint } from '../src/failpoints.js';
import { eventually } from '../test/support/eventually.js';
import type { ManagedProcess } from '../test/support/processes.js';
import { startReceiver, type Receiver } from '../test/support/receiver.js';
import { startService, type Service } from '../test/support/service.js';
import { order, type TestTenant } from '../test/support/tenant.js';

/** What the bank does with an order: chosen by the last digits of the account. */
export type Outcome = {
  name: string;
  suffix: string;
  ends: 'completed' | 'failed';
  paid: 0 | 1;
  /** Has the bank call back instead of answering. */
  calledBack: { suffix: string; tell: 'failed' | null } | null;
};

const API_POINTS: Failpoint[] = ['commit.before', 'commit.after', 'start.before', 'start.after'];
const CALLBACK_POINTS: Failpoint[] = ['callback.stored', 'callback.applied'];
/** The worker commits three times for each transfer that somebody listens to: permission, answer, end. */
const WORKER_POINTS = [
  'send.permitted',
  'send.answered',
  'settle.before',
  'settle.after',
  'commit.before',
  'commit.after',
  'commit.before:2',
  'commit.after:2',
  'webhook.before',
  'webhook.after',
  'webhook.before:2',
  'webhook.after:2',
] as const;
const DISPATCH_POINTS: Failpoint[] = [
  'dispatch.found',
  'start.before',
  'start.after',
  'dispatch.started',
];
/** Reached only where the order's answer is lost. */
const VERIFY_POINTS: Failpoint[] = ['verify.before', 'verify.answered'];

/**
 * Has a process die at every point that this outcome leads past, at a bank that pays a repeated order twice. Another
 * process takes its place, and in the end everything is as if nothing had happened.
 */
export function dieAtEveryPoint(outcome: Outcome): void {
  const stage = newStage();
  beforeAll(() => stage.open());
  afterAll(() => stage.close());
  describe(`${outcome.name}: the API dies`, () => apiDies(stage, outcome));
  describe(`${outcome.name}: the worker dies`, () => workerDies(stage, outcome));
}

type Stage = ReturnType<typeof newStage>;

/** The service, its tenant, who is told of what happens, and the workers of the present test. */
function newStage() {
  let service: Service;
  let tenant: TestTenant;
  let receiver: Receiver;
  const workers: ManagedProcess[] = [];

  return {
    service: () => service,
    tenant: () => tenant,

    async open(): Promise<void> {
      service = await startService({
        workers: 0,
        bank: { deduplicate: false, finalAfterMs: 2_000 },
        env: { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' },
      });
      tenant = await service.tenant();
      receiver = await startReceiver();
      await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
    },
    async close(): Promise<void> {
      await service?.close();
      await receiver?.close();
    },

    async newWorker(failpoint?: string): Promise<ManagedProcess> {
      const armed = failpoint === undefined ? {} : { BURSAR_FAILPOINT: failpoint };
      const worker = service.newWorker(armed);
      await worker.start();
      workers.push(worker);
      return worker;
    },
    noWorkers: async () => void (await Promise.all(workers.splice(0).map((each) => each.kill()))),

    /** As the bank's outcome says, paid no more often than that, told once for each change; and the books agree. */
    async isRight(id: string, { ends, paid }: Outcome): Promise<void> {
      await tenant.waitFor(id, ends);
      expect(await service.bank.journal(id)).toHaveLength(paid);
      await eventually('the tenant knows', () =>
        receiver.events(id).some(({ event }) => event === `transfer.${ends}`) ? true : undefined,
      );
      const told = new Map(receiver.events(id).map((event) => [event.id, event.event]));
      expect([...told.values()].toSorted()).toEqual([`transfer.${ends}`, 'transfer.processing']);
      expect(await service.problems()).toEqual([]);
    },
  };
}

async function diesAt(armed: ManagedProcess, point: string): Promise<void> {
  await eventually(`dead at ${point}`, () => (armed.isRunning() ? undefined : true));
  expect(armed.output()).toContain(`failpoint ${point.split(':')[0]}`);
}

function apiDies(stage: Stage, outcome: Outcome): void {
  beforeAll(async () => void (await stage.newWorker()));
  afterAll(() => stage.noWorkers());

  test.each(API_POINTS)('at %s', async (point) => {
    const armed = await stage.service().newApi({ BURSAR_FAILPOINT: point });
    await armed.start();
    const [tenant, body, key] = [stage.tenant(), order(outcome.suffix), randomUUID()];
    // It may die before it answers or after.
    const first = await tenant
      .at(armed.url)
      .transfer(body, { key })
      .catch(() => null);
    await diesAt(armed, point);
    const again = await tenant.transfer(body, { key });
    expect(again.status).toBe(201);
    if (first) expect(again.text).toBe(first.text);
    await stage.isRight(again.body.data.id, outcome);
  });

  const { calledBack } = outcome;
  if (!calledBack) return;
  test.each(CALLBACK_POINTS)('at %s', async (point) => {
    const { api, bank, newApi } = stage.service();
    await api.stop();
    const armed = await newApi({ BURSAR_FAILPOINT: point }, api.port);
    await armed.start();
    const id = await stage.tenant().send(calledBack.suffix);
    await stage.tenant().waitFor(id, 'processing');
    const { tell } = calledBack;
    if (tell) {
      await eventually('the bank has the order', async () =>
        (await bank.tell(id, tell)) < 300 ? true : undefined,
      );
    }
    await diesAt(armed, point);
    await api.start();
    await stage.isRight(id, outcome);
  });
}

function workerDies(stage: Stage, outcome: Outcome): void {
  afterEach(() => stage.noWorkers());

  async function diesAndIsReplaced(point: string, send: () => Promise<string>): Promise<void> {
    const armed = await stage.newWorker(point);
    const id = await send();
    await diesAt(armed, point);
    await stage.newWorker();
    await stage.isRight(id, outcome);
  }

  const points = outcome.suffix === '004' ? [...WORKER_POINTS, ...VERIFY_POINTS] : WORKER_POINTS;
  test.each(points)('at %s', async (point) => {
    await diesAndIsReplaced(point, () => stage.tenant().send(outcome.suffix));
  });

  test.each(DISPATCH_POINTS)('at %s, where the API could not reach Temporal', async (point) => {
    const { deadPort, newApi } = stage.service();
    const alone = await newApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await deadPort()}` });
    await alone.start();
    await diesAndIsReplaced(point, async () => {
      const { body } = await stage.tenant().at(alone.url).transfer(order(outcome.suffix));
      return body.data.id;
    });
    await alone.kill();
  });
}
