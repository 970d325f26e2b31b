import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import type { TestTenant } from '../../support/tenant.js';
import { countByStatus, slowest, type Load } from '../support/load.js';
import { lossesOnceQuiet, openWork } from '../support/nothing-lost.js';
import { openCluster, paced, type Cluster } from '../support/cluster.js';
import { growthMib, readHeaps, residentMib, secondHalf, type Sample } from './memory.js';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? '30');
const PER_SECOND = Number(process.env['SOAK_PER_SECOND'] ?? paced(8));
const SAMPLE_EVERY_MS = 10_000;

/** Allowed growth for each thousand transfers. One KiB kept for each transfer would be about one MiB. */
const LIVE_MIB_PER_1000 = 1;
const RESIDENT_MIB_PER_1000 = 4;

let cluster: Cluster;
let receiver: Receiver;
const heaps = mkdtempSync(join(tmpdir(), 'bursar-heaps-'));

beforeAll(async () => {
  receiver = await startReceiver();
  const preload = pathToFileURL(join(import.meta.dirname, '../support/heap-watch.mjs')).href;
  cluster = await openCluster({
    env: {
      NODE_OPTIONS: `--import=${preload}`,
      HEAP_FOLDER: heaps,
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    },
  });
});

afterAll(async () => {
  await cluster?.close();
  await receiver?.close();
  rmSync(heaps, { recursive: true, force: true });
});

type Work = Record<string, number>;

/** Reads as tenants do: one of the latest transfers, and a page of the list. */
async function read(load: Load): Promise<void> {
  const one = load.requests.slice(-100).find(({ answer }) => answer?.status === 201);
  if (!one?.answer) return;
  await one.tenant.get(one.answer.body.data.id);
  await one.tenant.call('GET', '/transfers?limit=20', undefined);
}

async function watch(load: Load, untilMs: number) {
  const work: Work[] = [];
  const engines: Record<'mongod' | 'Temporal', Sample[]> = { mongod: [], Temporal: [] };
  const accepted: { at: number; transfers: number }[] = [];
  while (performance.now() < untilMs) {
    const transfers = load.accepted();
    accepted.push({ at: Date.now(), transfers });
    engines.mongod.push({ transfers, mib: residentMib(cluster.mongod.pid) });
    engines.Temporal.push({ transfers, mib: residentMib(cluster.temporal.pid) });
    work.push(await openWork(cluster.service));
    for (const end = performance.now() + SAMPLE_EVERY_MS; performance.now() < end;) {
      await read(load);
      await sleep(500);
    }
  }
  const transfersAt = (at: number) => accepted.findLast((one) => one.at <= at)?.transfers ?? 0;
  return { work, engines, transfersAt };
}

const total = (work: Work) => Object.values(work).reduce((sum, count) => sum + count, 0);
const mean = (numbers: readonly number[]) =>
  Math.round(numbers.reduce((sum, one) => sum + one, 0) / numbers.length);

test(
  `memory and open work do not grow in ${MINUTES} minutes at ${PER_SECOND} transfers a second`,
  async () => {
    const tenants = await cluster.tenants(4);
    for (const tenant of new Set<TestTenant>(tenants)) {
      await cluster.service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
    }
    const load = cluster.load(tenants, PER_SECOND, {
      suffixes: ['789', '789', '789', '001', '002'],
    });
    const watched = await watch(load, performance.now() + MINUTES * 60_000);
    const requests = await load.stop();

    const memory = { ...readHeaps(heaps, watched.transfersAt), ...watched.engines };
    const growth = Object.entries(memory).map(([what, samples]) => {
      const half = secondHalf(samples);
      const mib = Math.round(half.at(-1)?.mib ?? 0);
      return { what, mib, mibPer1000: Number(growthMib(half).toFixed(2)), samples: half.length };
    });
    const open = watched.work.map(total);
    const later = secondHalf(open);
    const figures = {
      scenario: `soak of ${MINUTES} minutes`,
      transfers: load.accepted(),
      attempts: countByStatus(load.attempts(0)),
      slowest_ms: slowest(load.attempts(0)),
      webhooks: receiver.received.length,
      open_in_third_quarter: mean(later.slice(0, later.length / 2)),
      open_in_last_quarter: mean(later.slice(later.length / 2)),
      open_at_the_end: watched.work.at(-1),
    };
    console.table(growth);
    console.log(JSON.stringify(figures));

    expect(new Set(requests.map(({ answer }) => answer?.status))).toEqual(new Set([201]));
    expect(receiver.received.length).toBeGreaterThan(requests.length);
    // The bound is the number of transfers that begin in a few seconds.
    const grown = figures.open_in_last_quarter - figures.open_in_third_quarter;
    expect(grown).toBeLessThan(5 * PER_SECOND);
    const ours = growth.filter(({ what }) => !(what in watched.engines));
    // Two APIs and two workers, each worker with at least one thread for workflows.
    expect(ours.length).toBeGreaterThanOrEqual(8);
    const limitOf = (what: string) =>
      what.endsWith('resident') ? RESIDENT_MIB_PER_1000 : LIVE_MIB_PER_1000;
    expect(ours.filter(({ what, mibPer1000 }) => mibPer1000 > limitOf(what))).toEqual([]);
    expect(await lossesOnceQuiet(cluster.service, requests)).toEqual([]);
  },
  (MINUTES * 60 + 600) * 1_000,
);
