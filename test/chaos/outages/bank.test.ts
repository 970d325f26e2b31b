import { setTimeout as sleep } from 'node:timers/promises';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { eventually } from '../../support/eventually.js';
import type { TestTenant } from '../../support/tenant.js';
import { countByStatus, slowest } from '../support/load.js';
import { lossesOnceQuiet, openWork, waitUntilNoOpenWork } from '../support/nothing-lost.js';
import { IS_PATIENT, openCluster, paced, type Cluster } from '../support/cluster.js';

const AWAY_MS = 30_000;
const PER_SECOND = paced(10);
/** Longer than a client's time limit, so that hanging requests have ended too. */
const GIVEN_UP_MS = 30_000;

let cluster: Cluster;
let tenants: TestTenant[];

beforeAll(async () => {
  cluster = await openCluster();
  tenants = await cluster.tenants(4);
});

afterAll(async () => {
  await cluster?.close();
});

/** Transfers that ever had attention, including those whose attention has been cleared. */
const everCalled = () =>
  cluster.service.deps.database.db
    .collection<Transfer>('transfers')
    .countDocuments({ 'timeline.type': 'attention_raised' });

async function outage(how: string, goAway: () => Promise<void> | void, comeBack: () => unknown) {
  const { service } = cluster;
  const load = cluster.load(tenants, PER_SECOND, { suffixes: ['789', '789', '001', '004'] });
  await eventually('the load is there', () => load.accepted() > 15 || undefined);
  const from = performance.now();
  await goAway();
  await sleep(AWAY_MS);
  const until = performance.now();
  // The bank stays down until each request has its answer, because none may wait for the bank.
  const stopped = load.stop();
  await Promise.race([stopped, sleep(GIVEN_UP_MS, undefined, { ref: false })]);
  const { transfers: waiting = 0, attention = 0 } = await openWork(service);
  await comeBack();
  const back = performance.now();
  const requests = await stopped;
  const attempts = load.attempts(from, until);
  await waitUntilNoOpenWork(service);
  const figures = {
    scenario: `the bank ${how} for ${AWAY_MS / 1_000} s`,
    by_status: countByStatus(attempts),
    slowest_ms: slowest(attempts),
    waiting_at_return: waiting,
    operators_called: await everCalled(),
    all_ended_after_ms: Math.round(performance.now() - back),
  };
  console.log(JSON.stringify(figures));
  // Every transfer is accepted, at its first request unless the machine has other users; none can have completed during the outage.
  expect(requests.filter(({ answer }) => answer?.status !== 201)).toEqual([]);
  const refused = attempts.filter(({ status }) => status !== 201);
  expect(refused.length / attempts.length).toBeLessThanOrEqual(IS_PATIENT ? 0.1 : 0);
  expect(waiting).toBeGreaterThan((PER_SECOND * AWAY_MS) / 1_000 / 2);
  expect([attention, figures.operators_called]).toEqual([0, 0]);
  const { db } = service.deps.database;
  expect(await db.collection('transfers').countDocuments({ status: 'failed' })).toBe(0);
  return requests;
}

const all: Awaited<ReturnType<typeof outage>>[number][] = [];

test('transfers are accepted while the bank is down, need no operator, and complete once', async () => {
  const { bank } = cluster.service;
  all.push(
    ...(await outage(
      'was killed',
      () => bank.kill(),
      () => bank.start(),
    )),
  );
}, 1_200_000);

test('transfers are accepted while the bank hangs, need no operator, and complete once', async () => {
  const { bank } = cluster.service;
  all.push(
    ...(await outage(
      'was frozen',
      () => bank.freeze(),
      () => bank.thaw(),
    )),
  );
}, 1_200_000);

test('after the bank outages no transfer is lost, and none was paid twice', async () => {
  expect(await lossesOnceQuiet(cluster.service, all)).toEqual([]);
}, 1_200_000);
