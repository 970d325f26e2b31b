import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { lagosDay } from '../../../src/core/ledger/wallet.js';
import { bursar } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import type { ManagedProcess } from '../../support/processes.js';
import { transferBody } from '../../support/tenant.js';
import type { SentRequest } from '../support/load.js';
import { lossesOnceQuiet, waitUntilNoOpenWork } from '../support/nothing-lost.js';
import { openCluster, paced, type Cluster } from '../support/cluster.js';

const HOUR_MS = 60 * 60 * 1000;
const PER_SECOND = paced(8);
const PHASE_MS = 12_000;
const PRELOAD = pathToFileURL(join(import.meta.dirname, '../support/shifted-clock.mjs')).href;

const folder = mkdtempSync(join(tmpdir(), 'bursar-clock-'));
const clockFile = join(folder, 'ahead');
const ENV = { NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_FILE: clockFile };
/** Sets how far the clock of these processes is ahead. The change is immediate, as when an operator sets a clock. */
const setAhead = (ms: number) => writeFileSync(clockFile, String(ms));

let cluster: Cluster;

afterEach(async () => {
  await cluster?.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const transfers = () => cluster.service.deps.database.db.collection<Transfer>('transfers');

/** Waits until a timeline has a time from the shifted clock, so a process has read it. */
const bothClocksUsed = (aheadMs: number, type: 'accepted' | 'submitted') =>
  eventually(`something was ${type} at the wrong time`, async () => {
    const far = new Date(Date.now() + aheadMs / 2);
    const wrong = { $elemMatch: { type, at: aheadMs > 0 ? { $gt: far } : { $lt: far } } };
    return (await transfers().countDocuments({ timeline: wrong })) > 0 ? true : undefined;
  });

test('an hour forward and back, then backward and forward again, for one of two APIs and one of two workers', async () => {
  setAhead(0);
  // The bank deduplicates by reference, so requests need not be recent.
  cluster = await openCluster({ apis: 1, workers: 1, bank: { deduplicate: true } });
  const { service } = cluster;
  const api = await service.newApi(ENV);
  await Promise.all([api.start(), service.newWorker(ENV).start()]);
  const urls = [service.api.url, api.url];
  const load = cluster.load(await cluster.tenants(4), PER_SECOND, {
    urls,
    suffixes: ['789', '001', '004', '789', '789'],
  });
  for (const aheadMs of [HOUR_MS, 0, -HOUR_MS, 0]) {
    setAhead(aheadMs);
    if (aheadMs !== 0)
      await Promise.all([
        bothClocksUsed(aheadMs, 'accepted'),
        bothClocksUsed(aheadMs, 'submitted'),
      ]);
    await sleep(PHASE_MS);
  }
  const requests = await load.stop();
  await waitUntilNoOpenWork(service);
  const called = await transfers().countDocuments({ 'timeline.type': 'attention_raised' });
  const failed = await transfers().countDocuments({ status: 'failed' });
  const scenario = 'clock of one API and one worker of two each, 1 h forward and backward';
  console.log(
    JSON.stringify({ scenario, transfers: requests.length, failed, operators_called: called }),
  );
  expect([failed, called]).toEqual([0, 0]);
  expect(await lossesOnceQuiet(service, requests)).toEqual([]);
}, 1_200_000);

test('a month ahead for one of two APIs: a daily limit follows the day of the database server at both', async () => {
  setAhead(30 * 24 * HOUR_MS);
  cluster = await openCluster({ apis: 1, workers: 1 });
  const { service } = cluster;
  const ahead = await service.newApi(ENV);
  await ahead.start();
  const amount = transferBody().amount_minor;
  const tenant = await service.tenant({
    balanceMinor: 10 * amount,
    dailyLimitMinor: BigInt(3 * amount),
  });
  const sendTo = async (url: string) => {
    const { status, body } = await tenant.at(url).transfer(transferBody(), { key: randomUUID() });
    return status === 201 ? 'accepted' : body.error?.code;
  };
  const today = lagosDay(new Date());
  for (const { url } of [service.api, ahead, service.api])
    expect(await sendTo(url)).toBe('accepted');
  for (const { url } of [ahead, service.api]) expect(await sendTo(url)).toBe('limit_exceeded');
  const far = { created_at: { $gt: new Date(Date.now() + 24 * HOUR_MS) } };
  expect(await transfers().countDocuments(far)).toBe(1);
  const wallets = service.deps.database.db.collection<{ _id: string; limit_day: string }>(
    'wallets',
  );
  expect([today, lagosDay(new Date())]).toContain(
    (await wallets.findOne({ _id: tenant.id }))?.limit_day,
  );
  await waitUntilNoOpenWork(service);
  expect(await service.problems()).toEqual([]);
}, 1_200_000);

/** The worst case: the bank pays repeats, rejects requests that are too old or from the future, and all clocks are wrong. */
async function allWorkersAreWrong(aheadMs: number): Promise<SentRequest[]> {
  setAhead(aheadMs);
  // A retry permits one submission, which must not be too old on arrival on a machine with other users.
  cluster = await openCluster({
    apis: 1,
    workers: 0,
    bank: { deduplicate: false, conclusiveAfterMs: 6_000 },
  });
  const { service } = cluster;
  const worker: ManagedProcess = service.newWorker(ENV);
  await worker.start();
  const load = cluster.load(await cluster.tenants(2), 2);
  await sleep(5_000);
  const requests = [...(await load.stop())];
  const ids = await eventually('operators are called for all of them', async () => {
    const called = await transfers()
      .find({ 'attention.reason': { $regex: 'does not answer submissions' } })
      .toArray();
    return called.length === requests.length ? called.map(({ _id }) => _id) : undefined;
  });
  expect(await service.bank.journal()).toEqual([]);
  setAhead(0);
  for (const id of ids) {
    const { code, out, error } = await bursar(
      `transfers retry ${id} --reason the-clock-is-right-again`,
      service.env,
    );
    if (code !== 0) throw new Error(`${out} ${error}`);
  }
  await waitUntilNoOpenWork(service);
  expect(await service.bank.journal()).toHaveLength(requests.length);
  return requests;
}

test.each([
  ['forward', HOUR_MS],
  ['backward', -HOUR_MS],
])(
  'an hour %s for all workers, at a bank that refuses old requests: nothing is paid, attention is raised, and operators retry',
  async (_, aheadMs) => {
    const requests = await allWorkersAreWrong(aheadMs);
    expect(await lossesOnceQuiet(cluster.service, requests)).toEqual([]);
  },
  1_200_000,
);
