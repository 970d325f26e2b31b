import { setTimeout as sleep } from 'node:timers/promises';
import { privateMongod, privateTemporal } from '../../support/engines.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import { transferBody, untilTaken, type Reply, type TestTenant } from '../../support/tenant.js';

let mongod: Awaited<ReturnType<typeof privateMongod>>;
let temporal: Awaited<ReturnType<typeof privateTemporal>>;
let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  [mongod, temporal] = await Promise.all([privateMongod(), privateTemporal()]);
  service = await startService({
    bank: { deduplicate: false },
    mongodbUri: mongod.uri,
    temporalAddress: temporal.address,
  });
  tenant = await service.tenant({ balanceMinor: 1_000_000_000 });
});

afterAll(async () => {
  await service?.close();
  await Promise.all([mongod?.remove(), temporal?.remove()]);
});

const PAUSE_MS = 150;

type RepeatedRequest = { body: ReturnType<typeof transferBody>; key: string; replies: Reply[] };

/** No answer: the connection was lost, as an idle one may be on a busy machine. A request that hangs is an error. */
function unlessHung(error: { name: string }): null {
  if (error.name === 'TimeoutError') throw error;
  return null;
}

/**
 * Correct clients: after a 503 they repeat the request with the same key, after the time in `Retry-After`, and after a lost
 * connection.
 */
function startLoad(clients: number) {
  const requests: RepeatedRequest[] = [];
  const going = { on: true };

  async function sendUntilAccepted(): Promise<void> {
    const body = transferBody();
    const request: RepeatedRequest = { body, key: `load ${body.reference}`, replies: [] };
    requests.push(request);
    for (;;) {
      const reply = await tenant.transfer(request.body, { key: request.key }).catch(unlessHung);
      if (reply !== null) request.replies.push(reply);
      if (reply !== null && reply.status !== 503) return;
      await sleep(1_000 * Number(reply?.headers.get('retry-after') ?? 1));
    }
  }

  const run = async () => {
    while (going.on) {
      await sendUntilAccepted();
      // A low load is enough, because each request is also a workflow that must complete.
      await sleep(PAUSE_MS);
    }
  };
  const done = Promise.all(Array.from({ length: clients }, run));
  // `stop` awaits and reports the rejection; without this handler Node would report it as unhandled first.
  done.catch(() => {});
  const answers = (status: number) =>
    requests.flatMap(({ replies }) => replies).filter((reply) => reply.status === status);
  return {
    answers,
    /** Waits for this many more answers with a status. */
    more: async (status: number, count: number) => {
      const before = answers(status).length;
      await eventually(`${count} more ${status}`, () =>
        answers(status).length >= before + count ? true : undefined,
      );
    },
    async stop() {
      going.on = false;
      await done;
      return requests;
    },
  };
}

/** API and worker must outlive the engines, as no supervisor restarts them here. */
const expectAllRunning = () =>
  expect([service.api, service.worker].map((each) => each.isRunning())).toEqual([true, true]);

test('mongod killed under load loses no answer; requests meanwhile get a 503, and none hangs', async () => {
  const load = startLoad(8);
  let pid = mongod.pid;
  for (const _ of [1, 2]) {
    await load.more(201, 30);
    process.kill(pid, 'SIGKILL');
    await load.more(503, 1);
    ({ pid } = await mongod.restart());
    await load.more(201, 30);
  }
  const requests = await load.stop();

  const statuses = requests.map(({ replies }) => replies.at(-1)?.status);
  expect(new Set(statuses)).toEqual(new Set([201]));
  for (const { headers, body } of load.answers(503)) {
    expect(body.error.code).toBe('service_unavailable');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const { db } = service.deps.database;
  const made = await db.collection<{ reference: string }>('transfers').find().toArray();
  expect(made.map(({ _id, reference }) => `${String(_id)} ${reference}`).toSorted()).toEqual(
    requests
      .map(({ body, replies }) => `${replies.at(-1)?.body.data.id} ${body.reference}`)
      .toSorted(),
  );
  await service.allEnded();
  expectAllRunning();
  expect(await service.problems()).toEqual([]);
});

test('a primary that steps down under load causes 503 at most, and no process ends', async () => {
  const load = startLoad(8);
  await load.more(201, 20);
  const admin = service.deps.database.client.db('admin');
  const stepDown = { replSetStepDown: 2, secondaryCatchUpPeriodSecs: 0, force: true };
  await admin.command(stepDown);
  await load.more(201, 40);
  const requests = await load.stop();
  expect(new Set(requests.map(({ replies }) => replies.at(-1)?.status))).toEqual(new Set([201]));
  await service.allEnded();
  expectAllRunning();
  expect(await service.problems()).toEqual([]);
});

test('transfers accepted while Temporal is down are completed once when it is back', async () => {
  process.kill(temporal.pid, 'SIGKILL');
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => transferBody()).map((body) =>
      untilTaken((under) => tenant.transfer(body, under)),
    ),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  await eventually('the API has given up starting their workflows', () =>
    service.logs().split('dispatcher will retry').length > replies.length ? true : undefined,
  );
  await temporal.restart();
  for (const { body } of replies) await tenant.waitFor(body.data.id, 'completed');
  expectAllRunning();
  expect(await service.problems()).toEqual([]);
});
