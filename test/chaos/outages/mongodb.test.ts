import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import type { Reply, TestTenant } from '../../support/tenant.js';
import { transferBody } from '../../support/tenant.js';
import { countByStatus, slowest, timed, type Attempt, type Load } from '../support/load.js';
import { lossesOnceQuiet } from '../support/nothing-lost.js';
import { IS_PATIENT, openCluster, paced, type Cluster } from '../support/cluster.js';

const PER_SECOND = paced(10);
/** Longer than the driver's own time limits, so that the behaviour after them is covered. */
const AWAY_MS = 15_000;
/** The guaranteed time in which a request is answered, whatever the database's state. */
const ANSWERED_WITHIN_MS = 5_000;

let cluster: Cluster;
let tenants: TestTenant[];
let network: Awaited<ReturnType<typeof startTcpProxy>> | undefined;

beforeAll(async () => {
  cluster = await openCluster();
  tenants = await cluster.tenants(4);
});

afterAll(async () => {
  network?.close();
  await cluster?.close();
});

const expectAllRunning = () => {
  const { apis, workers } = cluster.service;
  expect([...apis, ...workers].map((each) => each.isRunning())).toEqual([true, true, true, true]);
};

/** Sends every kind of request without a key, and does not repeat it. */
async function postWithoutKey(
  urls: string[],
  references: string[],
  attempts: Attempt[],
): Promise<Reply[]> {
  const [tenant] = tenants as [TestTenant];
  const [first, second] = [tenant.at(urls[0] as string), tenant.at(urls.at(-1) as string)];
  const { reference, ...rest } = transferBody();
  references.push(reference);
  const calls = [
    () => first.transfer({ ...rest, reference }),
    () => second.call('GET', '/transfers?limit=1', undefined),
    () => second.call('GET', '/transfers/trf_01jd0000000000000000000000', undefined),
    () => first.call('POST', '/transfers/bulk', JSON.stringify({ transfers: [transferBody()] })),
    () => first.call('GET', '/cards', undefined),
    () => second.call('GET', '/nowhere', undefined),
  ];
  const replies = await Promise.all(calls.map((call) => timed(attempts, call)));
  return replies.filter((reply) => reply !== null);
}

/**
 * The longest time without an answer during the outage, or after it. The guarantee holds for each part alone: a request
 * in flight when the database returns may take the sum.
 */
const longestWait = (attempts: readonly Attempt[], back: number) =>
  slowest(
    attempts.map(({ at, ms, status }) => {
      const end = at + ms;
      return { at, ms: Math.max(Math.min(end, back) - at, end - Math.max(at, back)), status };
    }),
  );

/** Takes the database down and back up under load; returns the figures. */
async function outage(
  how: string,
  goAway: () => void,
  comeBack: () => Promise<void> | void,
  urls = cluster.service.apis.map(({ url }) => url),
) {
  const load: Load = cluster.load(tenants, PER_SECOND, { urls });
  await eventually('the load is there', () => load.accepted() > 15 || undefined);
  const references: string[] = [];
  const from = performance.now();
  goAway();
  // API keys are cached for a moment; afterwards every request needs the database.
  await sleep(1_500);
  const unkeyed: Attempt[] = [];
  const replies: Reply[] = [];
  while (performance.now() - from < AWAY_MS) {
    replies.push(...(await postWithoutKey(urls, references, unkeyed)));
    await sleep(300);
  }
  const until = performance.now();
  await comeBack();
  const back = performance.now();
  const acceptedBefore = load.accepted();
  await eventually('it works again', () => load.accepted() > acceptedBefore + 5 || undefined);
  const backMs = Math.round(performance.now() - until);
  const requests = await load.stop();
  // Counted after the return, because requests that hung during the outage end only now.
  const attempts = load.attempts(from, until);
  const ended = attempts.filter(({ at, ms }) => at + ms < until);
  const longestWaitMs = longestWait(load.attempts(from, back), back);
  console.log(
    JSON.stringify({
      scenario: `MongoDB ${how} for ${AWAY_MS / 1_000} s`,
      by_status: countByStatus(attempts),
      slowest_ms: slowest(attempts),
      longest_wait_ms: longestWaitMs,
      unkeyed: countByStatus(unkeyed),
      unkeyed_slowest_ms: slowest(unkeyed),
      works_again_ms: backMs,
    }),
  );
  return { requests, attempts, ended, longestWaitMs, unkeyed, replies, references };
}

async function expectAnsweredInTime({
  attempts,
  ended,
  longestWaitMs,
  unkeyed,
  replies,
  references,
}: Awaited<ReturnType<typeof outage>>): Promise<void> {
  // Only requests before the outage, or in flight at its end, got another answer than 503.
  expect(ended.filter(({ status }) => status === 503).length).toBeGreaterThan(PER_SECOND);
  expect(attempts.filter(({ status }) => status !== 503 && status !== 201)).toEqual([]);
  if (!IS_PATIENT) {
    expect(longestWaitMs).toBeLessThanOrEqual(ANSWERED_WITHIN_MS);
    expect(slowest(unkeyed)).toBeLessThanOrEqual(ANSWERED_WITHIN_MS);
  }
  expect(new Set(unkeyed.map(({ status }) => status))).toEqual(new Set([503]));
  for (const { headers, body } of replies) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body.error.code).toBe('service_unavailable');
  }
  expectAllRunning();
  // A request that got a 503 must not have been accepted as well.
  const { db } = cluster.service.deps.database;
  const unasked = { reference: { $in: references } };
  expect(await db.collection('transfers').countDocuments(unasked)).toBe(0);
}

const all: Awaited<ReturnType<typeof outage>>['requests'][number][] = [];

test('requests get a 503 within 5 s while MongoDB is down, and the service recovers by itself', async () => {
  const found = await outage(
    'killed',
    () => process.kill(cluster.mongod.pid, 'SIGKILL'),
    async () => void (cluster.mongod.pid = (await cluster.mongod.restart()).pid),
  );
  await expectAnsweredInTime(found);
  all.push(...found.requests);
}, 1_200_000);

test('requests get a 503 within 5 s while MongoDB is frozen, and the service recovers by itself', async () => {
  const found = await outage(
    'frozen',
    () => process.kill(cluster.mongod.pid, 'SIGSTOP'),
    () => void process.kill(cluster.mongod.pid, 'SIGCONT'),
  );
  await expectAnsweredInTime(found);
  all.push(...found.requests);
}, 1_200_000);

test('requests get a 503 within 5 s while connections to MongoDB hang, and the service recovers by itself', async () => {
  const { service, mongod } = cluster;
  const line = await startTcpProxy(mongod.uri);
  network = line;
  const MONGODB_URI = line.uri;
  const [api, worker] = [await service.newApi({ MONGODB_URI }), service.newWorker({ MONGODB_URI })];
  await service.workers[1]?.kill();
  await Promise.all([api.start(), worker.start()]);
  const found = await outage(
    'out of reach',
    () => line.cut(),
    () => line.heal(),
    [api.url],
  );
  expect([api.isRunning(), worker.isRunning()]).toEqual([true, true]);
  await service.workers[1]?.start();
  await expectAnsweredInTime(found);
  all.push(...found.requests);
}, 1_200_000);

test('after the MongoDB outages no accepted request is lost', async () => {
  expect(await lossesOnceQuiet(cluster.service, all)).toEqual([]);
}, 1_200_000);
