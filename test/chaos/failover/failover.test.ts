import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { transferBody, type TestTenant } from '../../support/tenant.js';
import { countByStatus, slowest } from '../support/load.js';
import { lossesOnceQuiet } from '../support/nothing-lost.js';
import { startReplicaSet, type ReplicaSet } from '../support/replica-set.js';
import { openCluster, paced, type Cluster } from '../support/cluster.js';

const KILLS = Number(process.env['FAILOVER_KILLS'] ?? '5');
const PER_SECOND = paced(8);
/** Transfers accepted before each kill, and after it. */
const BETWEEN = 20;

let cluster: Cluster<ReplicaSet>;
let tenants: TestTenant[];

beforeAll(async () => {
  cluster = await openCluster({}, startReplicaSet);
  // The first tenant gets half of the load.
  tenants = await cluster.tenants(5);
});

afterAll(async () => {
  await cluster?.close();
});

test(`a replica set of three whose primary is killed ${KILLS} times under load loses nothing`, async () => {
  const { service, mongod: set } = cluster;
  const load = cluster.load(tenants, PER_SECOND, { suffixes: ['789', '789', '001', '004', '002'] });
  const accepted = (count: number) => {
    const before = load.accepted();
    return eventually('more are accepted', () => load.accepted() >= before + count || undefined);
  };
  const withoutMs: number[] = [];
  const primaries: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    await accepted(BETWEEN);
    const target = await set.primary();
    const at = performance.now();
    target.signal('SIGKILL');
    const heir = await set.primary();
    primaries.push(`${target.host} > ${heir.host}`);
    const back = performance.now();
    await accepted(BETWEEN);
    withoutMs.push(Math.round(back - at));
    target.start();
    await set.whole();
  }
  const sent = await load.stop();
  const attempts = load.attempts(0);
  const losses = await lossesOnceQuiet(service, sent);
  const figures = {
    scenario: `primary killed ${KILLS} times`,
    requests: sent.length,
    accepted: load.accepted(),
    attempts: countByStatus(attempts),
    slowest_ms: slowest(attempts),
    without_primary_ms: withoutMs,
    losses: losses.length,
  };
  console.log(JSON.stringify(figures));
  expect(losses).toEqual([]);
  expect(new Set(sent.map(({ answer }) => answer?.status))).toEqual(new Set([201]));
  // Each kill made another member the primary, and clients noticed it.
  expect(primaries.filter((change) => new Set(change.split(' > ')).size === 2)).toHaveLength(KILLS);
  expect(attempts.some(({ status }) => status === 503)).toBe(true);
  const { apis, workers } = service;
  expect([...apis, ...workers].map((each) => each.isRunning())).toEqual([true, true, true, true]);
}, 1_200_000);

test('a request without a majority gets a 503, and its repeat is accepted once when the majority is back', async () => {
  const { service, mongod: set } = cluster;
  const primary = await set.primary();
  const others = set.members.filter((each) => each !== primary);
  const [tenant] = tenants as [TestTenant];
  const [body, key] = [transferBody(), 'asked of a minority'];
  for (const other of others) other.signal('SIGSTOP');
  // Long enough for the driver to retry; shorter than the primary takes to notice.
  const alone = await tenant.transfer(body, { key });
  for (const other of others) other.signal('SIGCONT');
  expect([alone.status, alone.body.error.code]).toEqual([503, 'service_unavailable']);
  expect(alone.body.error.message).toContain('outcome is not known');
  const accepted = await eventually('it is accepted', async () => {
    const reply = await tenant.transfer(body, { key });
    if (reply.status === 201) return reply;
    await sleep(500);
    return undefined;
  });
  const { db } = service.deps.database;
  const found = { reference: body.reference };
  expect(await db.collection('transfers').countDocuments(found)).toBe(1);
  await tenant.waitFor(accepted.body.data.id, 'completed');
  expect(await service.bank.journal(accepted.body.data.id)).toHaveLength(1);
}, 240_000);
