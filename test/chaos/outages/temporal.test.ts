import { setTimeout as sleep } from 'node:timers/promises';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { transferBody, type TestTenant } from '../../support/tenant.js';
import { countByStatus, slowest } from '../support/load.js';
import { lossesOnceQuiet } from '../support/nothing-lost.js';
import { IS_PATIENT, openCluster, paced, type Cluster } from '../support/cluster.js';

/** How long Temporal is away: half a minute, or as `--temporal-seconds` says. */
const AWAY_SECONDS = Number(process.env['OUTAGE_TEMPORAL_SECONDS'] ?? 30);
const AWAY_MS = AWAY_SECONDS * 1_000;
const TEST_MS = 1_200_000 + 4 * AWAY_MS;
/** A load that two cores can catch up with in the guaranteed time; they complete about thirty transfers a second. */
const PER_SECOND = paced(10);
/** The guaranteed time after Temporal's return in which all transfers accepted during the outage complete. */
const CAUGHT_UP_MS = AWAY_MS;
/** A request that takes no longer than this has not waited for Temporal. */
const AT_ONCE_MS = 1_000;
/**
 * On a machine with other users a request may be slow, or answered by 503 once. So only requests that had five seconds before Temporal's
 * return count, and nearly all of them must have their answer before it.
 */
const ANSWERED = IS_PATIENT ? { withinMs: 5_000, share: 0.9 } : { withinMs: 0, share: 0.999 };

let cluster: Cluster;

afterEach(async () => {
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

test(
  'requests are accepted while Temporal is away, and completed within as long after its return',
  async () => {
    cluster = await openCluster();
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
    const [{ late, afterMs }, requests] = await Promise.all([
      caughtUp(back, accepted),
      load.stop(),
    ]);

    const losses = await lossesOnceQuiet(service, requests);
    const attempts = load.attempts(from, until);
    const firsts = attempts.filter(
      (each) =>
        each.at < until - ANSWERED.withinMs &&
        requests.some(({ attempts: [first] }) => first === each),
    );
    const atOnce = firsts.filter(
      ({ at, ms, status }) => status === 201 && (at + ms < until || ms < AT_ONCE_MS),
    );
    const figures = {
      scenario: `Temporal away for ${AWAY_SECONDS} s`,
      posts: firsts.length,
      accepted_at_once: atOnce.length,
      by_status: countByStatus(attempts),
      slowest_ms: slowest(attempts),
      waiting_at_return: waiting,
      answers_after_ms: Math.round(back - until),
      left_after_as_long: late.length,
      caught_up_after_ms: afterMs,
      all_ended_after_ms: Math.round(performance.now() - back),
      late: await timelinesOf(late),
    };
    console.log(JSON.stringify(figures));

    // Fewer waiting transfers would mean that Temporal was not down.
    expect(waiting).toBeGreaterThan((PER_SECOND * AWAY_MS) / 1_000 / 2);
    expect(atOnce.length / firsts.length).toBeGreaterThanOrEqual(ANSWERED.share);
    expect(losses).toEqual([]);
    if (!IS_PATIENT) expect(late).toEqual([]);
  },
  TEST_MS,
);

/**
 * The status and `Retry-After` of a request beyond the limit. Each request has a key of its own, and must not exist afterwards. A
 * database that is slow for a moment refuses with a shorter pause: then the next one is sent.
 */
async function refusedWhileFull([tenant]: readonly TestTenant[]) {
  const tries: [number | undefined, string | null | undefined][] = [];
  for (let n = 0; n < 3 && tries.at(-1)?.[1] !== '30'; n += 1) {
    const key = `refused while full ${n}`;
    const reply = await tenant?.transfer(transferBody(), { key }).catch(() => null);
    tries.push([reply?.status, reply?.headers.get('retry-after')]);
  }
  return tries.at(-1);
}

test(
  'requests beyond the limit of open transfers are refused while Temporal is away, and each ends once after its return',
  async () => {
    const maxOpen = Math.ceil((PER_SECOND * AWAY_SECONDS) / 3);
    cluster = await openCluster({ env: { BURSAR_MAX_OPEN_TRANSFERS: String(maxOpen) } });
    const { service, temporal } = cluster;
    const tenants = await cluster.tenants(4);
    const load = cluster.load(tenants, PER_SECOND);
    await sleep(5_000);
    process.kill(temporal.pid, 'SIGKILL');
    await sleep(AWAY_MS);
    const waiting = (await open()).length;
    const refused = await refusedWhileFull(tenants);
    await temporal.restart();
    const requests = await load.stop();

    const losses = await lossesOnceQuiet(service, requests);
    const byStatus = countByStatus(load.attempts(0));
    const scenario = `Temporal away for ${AWAY_SECONDS} s, at most ${maxOpen} open transfers`;
    const figures = { posts: requests.length, by_status: byStatus, waiting_at_return: waiting };
    console.log(JSON.stringify({ scenario, ...figures }));

    expect(refused).toEqual([503, '30']);
    expect(waiting).toBeGreaterThanOrEqual(maxOpen);
    // The count may lag by some seconds of intake.
    expect(waiting).toBeLessThan(PER_SECOND * AWAY_SECONDS);
    expect(new Set(Object.keys(byStatus))).toEqual(new Set(['201', '503']));
    expect(losses).toEqual([]);
  },
  TEST_MS,
);
