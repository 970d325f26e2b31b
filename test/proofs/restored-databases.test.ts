import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { Transfer } from '../../src/capabilities/transfers/transfer.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import { startLoad, type SentRequest } from '../chaos/support/load.js';
import { bursar } from '../support/cli.js';
import { privateMongod, privateTemporal } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';

type Engine<Start extends () => Promise<unknown>> = Awaited<ReturnType<Start>>;
type Restored = Awaited<ReturnType<typeof loseEverything>>;

const PER_SECOND = 6;
/** Paid at once, by callback, with a lost answer, after a temporary refusal. */
const SUFFIXES = ['789', '789', '001', '004', '010'];
const PHASE_MS = 3_000;

/** Ends all that a scenario has started, also one that fails. */
const toClose: (() => Promise<void>)[] = [];

/** Stops, kills and starts an engine, over all of its restarts. */
const engineOf = <E extends { pid: number; stop(): Promise<void>; restart(): Promise<unknown> }>(
  engine: E,
) => {
  let present: { pid: number; stop(): Promise<void> } = engine;
  return {
    stop: () => present.stop(),
    kill: () => process.kill(present.pid, 'SIGKILL'),
    async start() {
      present = (await engine.restart()) as typeof present;
    },
  };
};

async function copyOfMongoDb({ uri, folder }: Engine<typeof privateMongod>, to: string) {
  const client = new MongoClient(uri);
  try {
    await client.db('admin').command({ fsync: 1, lock: true });
    cpSync(join(folder, 'mongod'), to, { recursive: true });
    await client.db('admin').command({ fsyncUnlock: 1 });
  } finally {
    await client.close();
  }
}

const temporalFiles = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('temporal.db'));

/**
 * Backs MongoDB and Temporal up under load, one after the other, loses both some time later, restores them, and starts the
 * service as the guide says. The bank goes on meanwhile, and executes a repeated request twice.
 */
async function loseEverything(first: 'mongodb' | 'temporal') {
  const [mongod, temporal] = await Promise.all([privateMongod(), privateTemporal()]);
  const backups = mkdtempSync(join(tmpdir(), 'bursar-backup-'));
  toClose.push(async () => {
    await Promise.all([mongod.remove(), temporal.remove()]);
    rmSync(backups, { recursive: true, force: true });
  });
  const service = await startService({
    bank: { deduplicate: false, conclusiveAfterMs: 6_000 },
    mongodbUri: mongod.uri,
    temporalAddress: temporal.address,
    // A busy machine answers late: a submission that the bank refuses as too old counts.
    env: { BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '0.1,0.3', SANDBOX_BANK_TIMEOUT_MS: '4000' },
  });
  toClose.push(() => service.close());
  const [mongodProcess, temporalProcess] = [engineOf(mongod), engineOf(temporal)];
  const tenant = await service.tenant({ balanceMinor: 1_000_000_000 });
  const load = startLoad({
    tenants: [tenant],
    urls: [service.api.url],
    perSecond: PER_SECOND,
    suffixes: SUFFIXES,
  });

  let acknowledged: SentRequest[] = [];
  async function backUpMongoDb(): Promise<void> {
    // Without a worker for a moment, the backup has transfers that the bank gets only afterwards.
    await service.worker.kill();
    await sleep(1_000);
    acknowledged = load.requests.filter(({ answer }) => answer?.status === 201);
    await copyOfMongoDb(mongod, join(backups, 'mongod'));
    await service.worker.start();
  }
  async function backUpTemporal(): Promise<void> {
    await temporalProcess.stop();
    for (const name of temporalFiles(temporal.folder)) {
      cpSync(join(temporal.folder, name), join(backups, name));
    }
    await temporalProcess.start();
  }
  const steps =
    first === 'mongodb' ? [backUpMongoDb, backUpTemporal] : [backUpTemporal, backUpMongoDb];
  for (const backUp of steps) {
    await sleep(PHASE_MS);
    await backUp();
  }
  await sleep(PHASE_MS);

  load.end();
  mongodProcess.kill();
  temporalProcess.kill();
  await Promise.all([service.api.kill(), service.worker.kill()]);
  await sleep(200);
  rmSync(join(mongod.folder, 'mongod'), { recursive: true });
  for (const name of temporalFiles(temporal.folder)) rmSync(join(temporal.folder, name));
  cpSync(join(backups, 'mongod'), join(mongod.folder, 'mongod'), { recursive: true });
  for (const name of temporalFiles(backups)) {
    cpSync(join(backups, name), join(temporal.folder, name));
  }
  await Promise.all([mongodProcess.start(), temporalProcess.start()]);
  const prepared = await bursar('restored --yes --json', service.env);
  expect(prepared).toMatchObject({ code: 0 });
  const { presumed_submitted: presumed } = JSON.parse(prepared.out) as {
    presumed_submitted: Record<string, number>;
  };
  expect(presumed['transfers']).toBeGreaterThan(0);
  await Promise.all([service.worker.start(), service.api.start()]);
  await service.allEnded();
  return {
    service,
    acknowledged,
    paid: (await service.bank.journal()).filter(({ kind }) => kind === 'paid'),
  };
}

const transfersOf = (service: Service) =>
  service.deps.database.db.collection<Transfer>('transfers').find().toArray();

const twice = (references: readonly string[]) =>
  references.filter((reference, i) => references.indexOf(reference) !== i);

describe.each([
  ['MongoDB is older than Temporal', 'mongodb'],
  ['Temporal is older than MongoDB', 'temporal'],
] as const)('after a restore in which %s', (_, first) => {
  let restored: Restored;
  beforeAll(async () => {
    restored = await loseEverything(first);
  }, 240_000);
  afterAll(async () => {
    for (const close of toClose.splice(0).toReversed()) await close();
  });

  test('nothing is paid twice, and all that was acknowledged before the backup is there and has its outcome', async () => {
    const { service, acknowledged, paid } = restored;
    expect(twice(paid.map(({ reference }) => reference))).toEqual([]);
    const transfers = new Map((await transfersOf(service)).map((one) => [one._id, one]));
    expect(acknowledged.length).toBeGreaterThan(PER_SECOND);
    for (const { answer, body } of acknowledged) {
      const found = transfers.get(answer?.body.data.id ?? '');
      expect([body.reference, found?.reference, found?.status]).toEqual([
        body.reference,
        body.reference,
        'completed',
      ]);
    }
  });

  test('what the bank has beyond the backup is found by reconciliation, calls an operator, and is all that differs', async () => {
    const { service, paid } = restored;
    const { db } = service.deps.database;
    const known = new Set((await transfersOf(service)).map(({ _id }) => _id));
    const strangers = paid.map(({ reference }) => reference).filter((id) => !known.has(id));
    expect(strangers.length).toBeGreaterThan(0);
    const { code, out } = await bursar('reconcile --json', service.env);
    const report = JSON.parse(out) as { differences: { id: string; difference: string }[] };
    expect(code).toBe(1);
    expect(report.differences.map(({ id }) => id).toSorted()).toEqual(strangers.toSorted());
    expect(report.differences[0]?.difference).toBe('unknown with us, paid at the bank');
    const called = await eventually('an operator is called for each', async () => {
      const events = await db
        .collection<ProviderEvent>('provider_events')
        .find({ 'attention.since': { $type: 'date' } })
        .toArray();
      const references = new Set(events.flatMap(({ facts }) => facts.map((f) => f.reference)));
      return strangers.every((id) => references.has(id)) ? events : undefined;
    });
    expect(called[0]?.attention?.reason).toBeTruthy();
    // A second run finds the same, and calls nobody again.
    await bursar('reconcile --json', service.env);
    const listed = { event: 'transfer.listed' };
    expect(await db.collection('provider_events').countDocuments(listed)).toBe(strangers.length);
    const problems = await service.problems();
    const sums = problems.filter((text) => !text.endsWith('which is not ours'));
    expect(problems).toHaveLength(strangers.length + sums.length);
    expect(sums).toEqual([]);
  });
});
