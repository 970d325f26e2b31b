import { setTimeout as sleep } from 'node:timers/promises';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { countByStatus, slowest } from '../support/load.js';
import { lossesOnceQuiet } from '../support/nothing-lost.js';
import { IS_PATIENT, openCluster, paced, type Cluster } from '../support/cluster.js';

const AWAY_MS = 30_000;
/** A load that two cores can catch up with in the guaranteed time; they complete about thirty transfers a second. */
const PER_SECOND = paced(10);
/** The guaranteed time after Temporal's return in which all transfers accepted during the outage complete. */
const CAUGHT_UP_MS = 30_000;
/** A request that takes no longer than this has not waited for Temporal. */
const AT_ONCE_MS = 1_000;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await openCluster();
});

afterAll(async () => {
  await cluster?.close();
});

const transfers = () => cluster.service.deps.database.db.collection<Transfer>('transfers');

/** Ids of the open transfers, of all or of those named. */
async function open(among?: readonly string[]): Promise<string[]> {
  const found = transfers().find({
    status: { $in: ['pending', 'processing'] },
    ...(among && { _id: { $in: among } }),
  });
  return (await found.project<{ _id: string }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
}

/** Waits until these transfers are terminal, or the time is over; returns the late ones and the time taken. */
async function caughtUp(back: number, ids: readonly string[]) {
  const leftMs = () => back + CAUGHT_UP_MS - performance.now();
  let late = await open(ids);
  // The last read is at the end of the time, not before it.
  while (late.length > 0 && leftMs() > 0) {
    await sleep(Math.min(250, leftMs()));
    late = await open(late);
  }
  return { late, afterMs: Math.round(performance.now() - back) };
}

/** Timelines of late transfers, to explain the delay. */
const timelinesOf = async (ids: string[]) =>
  (
    await transfers()
      .find({ _id: { $in: ids } })
      .toArray()
  ).map(({ timeline }) =>
    timeline.map(({ at, type, detail }) => `${at.toISOString()} ${type} ${detail ?? ''}`),
  );

test('requests are accepted during a Temporal outage of 30 s, and completed within 30 s after it', async () => {
  const { service, temporal } = cluster;
  const load = cluster.load(await cluster.tenants(4), PER_SECOND);
  await sleep(5_000);
  const from = performance.now();
  process.kill(temporal.pid, 'SIGKILL');
  await sleep(AWAY_MS);
  const waiting = (await open()).length;
  const until = performance.now();
  await temporal.restart();
  const back = performance.now();
  // All accepted transfers that are still open.
  const accepted = await open();
  const [{ late, afterMs }, requests] = await Promise.all([caughtUp(back, accepted), load.stop()]);

  const losses = await lossesOnceQuiet(service, requests);
  const attempts = load.attempts(from, until);
  const firsts = attempts.filter((each) =>
    requests.some(({ attempts: [first] }) => first === each),
  );
  const atOnce = firsts.filter(
    ({ at, ms, status }) => status === 201 && (at + ms < until || ms < AT_ONCE_MS),
  );
  const figures = {
    scenario: 'Temporal away for 30 s',
    posts: firsts.length,
    accepted_at_once: atOnce.length,
    by_status: countByStatus(attempts),
    slowest_ms: slowest(attempts),
    waiting_at_return: waiting,
    answers_after_ms: Math.round(back - until),
    left_after_30_s: late.length,
    caught_up_after_ms: afterMs,
    all_ended_after_ms: Math.round(performance.now() - back),
    late: await timelinesOf(late),
  };
  console.log(JSON.stringify(figures));

  // Fewer waiting transfers would mean that Temporal was not down.
  expect(waiting).toBeGreaterThan((PER_SECOND * AWAY_MS) / 1_000 / 2);
  expect(atOnce.length / firsts.length).toBeGreaterThanOrEqual(0.999);
  expect(losses).toEqual([]);
  if (!IS_PATIENT) expect(late).toEqual([]);
}, 1_200_000);
