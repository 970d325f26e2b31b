import { readFileSync } from 'node:fs';
import type { Document } from 'mongodb';
import { Registry } from 'prom-client';
import { backlogs } from '../../src/composition/backlogs.js';
import { createDeps } from '../../src/composition/deps.js';
import { supervisedRecords } from '../../src/composition/supervision.js';
import { loadConfig } from '../../src/shared/config.js';
import { acrossTenants } from '../../src/platform/database/tenant-filters.js';
import { measureBacklogs } from '../../src/platform/metrics/backlog.js';
import { STALLED } from '../../src/core/supervision/stalls.js';
import { createDispatcher } from '../../worker/dispatcher.js';
import { createWatchdog } from '../../worker/watchdog.js';
import { approvedPayload } from '../support/approvals.js';
import { bursar } from '../support/cli.js';
import { sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startOwnWorker } from '../support/own-worker.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, untilTaken, type TestTenant } from '../support/tenant.js';

/** Account suffix of transfers that stay pending until the test sets their outcome at the bank. */
const PENDING = '006';
const SECOND_MS = 1_000;

let service: Service;
let stopWorker: (() => Promise<void>) | null = null;

beforeAll(async () => {
  const env = { BURSAR_ATTENTION_AFTER_MS: '2000', BURSAR_STALL_TIMEOUT_MS: '1000' };
  service = await startService({ workers: 0, env, bank: { callbacks: false } });
});

afterEach(async () => {
  await stopWorker?.();
  stopWorker = null;
});

afterAll(async () => {
  await service?.close();
});

/** The workflows, of which those of this tenant's transfers fail each workflow task. */
function failingTasksOf(tenant: TestTenant): { code: string } {
  const code = readFileSync(sharedEngines().bundle, 'utf8');
  const parts = code.split('async function transfer(input) {');
  expect(parts).toHaveLength(2);
  const bug = `if (input.tenantId === '${tenant.id}') throw new TypeError('a bug of the tests');`;
  return { code: parts.join(`async function transfer(input) { ${bug}`) };
}

const reasonOf = async (tenant: TestTenant, id: string) =>
  (await tenant.stored(id)).attention?.reason;

const stalled = (tenant: TestTenant, id: string) =>
  eventually(`${id} is found to make no progress`, async () =>
    (await reasonOf(tenant, id)) === STALLED ? true : undefined,
  );

/** Waits until lists, doctor and metrics show it: on a busy machine each of them may take too long once. */
const shownToOperators = (id: string) =>
  eventually(`operators are shown ${id}`, async () => {
    const list = await bursar('transfers list --attention --json', service.env);
    expect(list.out).toContain(id);
    const all = await bursar('attention --json', service.env);
    expect(JSON.parse(all.out)).toContainEqual(
      expect.objectContaining({ collection: 'transfers', id, reason: STALLED }),
    );
    const doctor = await bursar('doctor --json', service.env);
    const rows = JSON.parse(doctor.out) as { check: string; ok: boolean }[];
    expect(rows).toContainEqual(
      expect.objectContaining({ check: 'transfers: attention', ok: false }),
    );
    const registry = new Registry();
    measureBacklogs(registry, { db: service.deps.database.db, log: service.deps.log, backlogs });
    expect(await registry.metrics()).toMatch(
      /bursar_backlog_records\{backlog="transfers_attention"\} [1-9]/,
    );
    return true;
  });

test('a transfer whose workflow fails its tasks has attention, in the list, doctor and metrics, and completes once the workflow works', async () => {
  const [broken, healthy] = [await service.tenant(), await service.tenant()];
  stopWorker = await startOwnWorker(service, { workflowBundle: failingTasksOf(broken) });
  const id = await broken.send();
  const pending = await healthy.send(PENDING);
  await stalled(broken, id);
  await shownToOperators(id);
  // A starved worker may be found to make no progress for a time.
  await eventually('the healthy one makes progress', async () =>
    (await reasonOf(healthy, pending)) === STALLED ? undefined : true,
  );
  await healthy.waitFor(await healthy.send(), 'completed');

  await stopWorker();
  stopWorker = await startOwnWorker(service);
  expect(await broken.waitFor(id, 'completed')).toMatchObject({ attention: null });
  await service.bank.decideTransfer(pending, 'paid');
  await healthy.waitFor(pending, 'completed');
  expect(await service.problems()).toEqual([]);
});

test('a transfer that no workflow can be started for, because Temporal is away, has attention too', async () => {
  const tenant = await service.tenant();
  const env = { ...service.env, TEMPORAL_ADDRESS: `127.0.0.1:${await service.deadPort()}` };
  const away = await createDeps(loadConfig({ ...env, BURSAR_LOG_LEVEL: 'silent' }), 'test');
  const api = await service.newApi(env);
  await api.start();
  const sent = transferBody();
  const { body } = await untilTaken((under) => tenant.at(api.url).transfer(sent, under));
  const { id } = body.data;
  const records = supervisedRecords(away);
  const loops = [
    createDispatcher(records, away.log),
    createWatchdog(records, {
      ...away.config.instructions,
      db: away.database.db,
      log: away.log,
    }),
  ];
  const running = Promise.all(loops.map((loop) => loop.run()));
  await stalled(tenant, id);
  await shownToOperators(id);
  for (const loop of loops) loop.stop();
  await running;
  await api.kill();
  await away.close();

  stopWorker = await startOwnWorker(service);
  expect(await tenant.waitFor(id, 'completed')).toMatchObject({ attention: null });
});

test('a transfer that is failed by force soon after a retry is not checked before the next poll of its run', async () => {
  const tenant = await service.tenant();
  const pollMaxMs = 600_000;
  const api = await service.newApi({ ...service.env, BURSAR_POLL_MAX_MS: String(pollMaxMs) });
  await api.start();
  stopWorker = await startOwnWorker(service);
  const sent = transferBody(PENDING);
  const { body } = await untilTaken((under) => tenant.at(api.url).transfer(sent, under));
  const { id } = body.data;
  await eventually(`${id} is polled`, async () =>
    (await tenant.stored(id)).polls > 0 ? true : undefined,
  );
  const { starter } = service.deps.transfers;
  const given = { actor: 'ada', reason: 'r', session_id: null, force: false };
  expect(await starter.command(await tenant.stored(id), 'retry', given)).toMatchObject({
    done: true,
  });
  const payload = await approvedPayload(service.deps, 'transfers', await tenant.stored(id), given);
  const before = Date.now();
  expect(await starter.command(await tenant.stored(id), 'fail', payload)).toMatchObject({
    done: true,
  });
  const monitored = await tenant.stored(id);
  expect(monitored).toMatchObject({ status: 'failed', monitor_until: expect.any(Date) });
  expect(Number(monitored.next_check_at)).toBeGreaterThanOrEqual(before + pollMaxMs);
  await api.kill();
});

test('a start that fails because the server does not know its namespace yet is tried again at once', async () => {
  const tenant = await service.tenant();
  const id = await tenant.send();
  const due = await eventually('its check is due', async () => {
    const { next_check_at: at } = await tenant.stored(id);
    return at !== null && at < new Date() ? at : undefined;
  });
  const env = { ...service.env, TEMPORAL_NAMESPACE: 'not-there-yet', BURSAR_LOG_LEVEL: 'silent' };
  const deps = await createDeps(loadConfig(env), 'test');
  const loop = createDispatcher(supervisedRecords(deps), deps.log);
  const once = loop.run();
  loop.stop();
  await once;
  await deps.close();
  expect((await tenant.stored(id)).next_check_at).toEqual(due);
  stopWorker = await startOwnWorker(service);
  await tenant.waitFor(id, 'completed');
});

describe('the watchdog', () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * SECOND_MS);

  /** An open record of each kind, accepted long ago. */
  const OPEN: Readonly<Record<string, Document>> = {
    transfers: { status: 'processing', created_at: ago(3600) },
    card_operations: { status: 'processing', created_at: ago(3600) },
    charges: { status: 'pending', created_at: ago(3600) },
    refunds: { status: 'processing', created_at: ago(3600) },
    bill_payments: { status: 'processing', created_at: ago(3600) },
    identity_checks: { status: 'processing', created_at: ago(3600) },
    virtual_accounts: { status: 'processing', created_at: ago(3600) },
    deposits: { status: 'processing', created_at: ago(3600) },
    bulk_transfers: { created_at: ago(3600) },
    card_authorizations: { held_minor: 1n, created_at: ago(3600) },
    card_disputes: { status: 'open', created_at: ago(3600) },
    payment_tokens: { revoking: 'authz_1', updated_at: ago(3600) },
    recurring_charges: { status: 'active', next_charge_at: ago(3600) },
    provider_events: { status: 'received', received_at: ago(3600) },
    provider_event_replays: { status: 'pending', created_at: ago(3600) },
  };
  const records = () => supervisedRecords(service.deps);

  // These records have the fields alone that the watchdog reads.
  beforeAll(async () => {
    for (const collMod of Object.keys(OPEN)) {
      await service.deps.database.db.command({ collMod, validator: {} });
    }
  });

  test('knows every kind of supervised record', () => {
    expect(Object.keys(OPEN).toSorted()).toEqual(Object.keys(records()).toSorted());
  });

  test('reads through indexes alone', async () => {
    const { db } = service.deps.database;
    await db.setProfilingLevel('all');
    for (const { store } of Object.values(records())) {
      await store.clearStalled();
      await store.raiseStalled(SECOND_MS);
    }
    await db.setProfilingLevel('off');
    // Other parts of the service write to other collections meanwhile.
    const ns = { $in: Object.keys(OPEN).map((name) => `${db.databaseName}.${name}`) };
    const ofLoops = { ns, 'command.comment': acrossTenants('loop').comment };
    const looks = await db.collection('system.profile').find(ofLoops).toArray();
    expect(looks).toHaveLength(2 * Object.keys(OPEN).length);
    for (const { ns: of, planSummary } of looks) {
      expect([of, planSummary]).toEqual([of, expect.stringContaining('IXSCAN')]);
    }
  });

  test.each(Object.keys(OPEN))(
    'raises attention on %s only if starts stay without effect for long, and clears it after progress',
    async (name) => {
      const collection = service.deps.database.db.collection<Document & { _id: string }>(name);
      const store = records()[name]?.store;
      if (!store) throw new Error(`${name} is not supervised`);
      const { attentionAfterMs } = service.deps.config.instructions;
      const _id = `stalled-${name}`;
      const set = (fields: Document) => collection.updateOne({ _id }, { $set: fields });
      const attention = async (afterMs = attentionAfterMs) => {
        await store.clearStalled();
        await store.raiseStalled(afterMs);
        return (await collection.findOne({ _id }))?.['attention'] ?? null;
      };
      const start = async () => {
        const next_check_at = ago(1);
        const found = await collection.findOne({ _id });
        // Sets the clock back: the pauses between two starts are over.
        const isMarker =
          found?.['stalled']?.progress?.getTime() === found?.['next_check_at']?.getTime();
        await set({ next_check_at, ...(isMarker && { 'stalled.progress': next_check_at }) });
        await store.rescheduleCheck([{ _id, next_check_at }]);
      };
      await collection.insertOne({
        _id,
        version: 1,
        attention: null,
        timeline: [],
        next_check_at: ago(1),
        ...OPEN[name],
      });
      try {
        await start();
        // A first start is no sign of a stall, and its note makes no work for the watchdog.
        await store.clearStalled();
        expect((await collection.findOne({ _id }))?.['stalled']).toMatchObject({ starts: 1 });
        expect(await collection.countDocuments({ _id, 'stalled.since': { $exists: true } })).toBe(
          0,
        );
        await start();
        await start();
        // The starts are recent: workers may be behind.
        expect(await attention()).toBeNull();
        await set({ 'stalled.since': ago(60) });
        expect(await attention(7_200 * SECOND_MS)).toBeNull();
        expect(await attention()).toMatchObject({ reason: STALLED });
        await start();
        expect(await attention()).toMatchObject({ reason: STALLED });
        const progress = { next_check_at: ago(-60), next_charge_at: ago(-60) };
        await set(progress);
        expect(await attention()).toBeNull();
        expect((await collection.findOne({ _id }))?.['stalled']).toBeUndefined();
        await set({ ...OPEN[name], next_check_at: ago(60) });
        expect(await attention()).toMatchObject({ reason: STALLED });
      } finally {
        await collection.deleteOne({ _id });
      }
    },
  );

  test('raises attention on a transfer that was failed by force and is still monitored', async () => {
    const transfers = service.deps.database.db.collection<Document & { _id: string }>('transfers');
    const store = records()['transfers']?.store;
    const old = { created_at: ago(3600), next_check_at: ago(3600), attention: null, timeline: [] };
    const failed = { ...old, status: 'failed', version: 1 };
    await transfers.insertMany([
      { ...failed, _id: 'monitored', reference: 'monitored', monitor_until: ago(-3600) },
      { ...failed, _id: 'ended', reference: 'ended', monitor_until: null, next_check_at: null },
    ]);
    try {
      await store?.raiseStalled(SECOND_MS);
      const attention = async (_id: string) => (await transfers.findOne({ _id }))?.['attention'];
      expect(await attention('monitored')).toMatchObject({ reason: STALLED });
      expect(await attention('ended')).toBeNull();
    } finally {
      await transfers.deleteMany({ _id: { $in: ['monitored', 'ended'] } });
    }
  });

  test('raises attention page by page, and a record that its validator refuses keeps no other back', async () => {
    const { db } = service.deps.database;
    const name = 'bill_payments';
    const collection = db.collection<Document & { _id: string }>(name);
    const store = records()[name]?.store;
    const ids = Array.from({ length: 1_200 }, (_, i) => `page-${i}`);
    const overdue = { ...OPEN[name], next_check_at: ago(3600), attention: null };
    await collection.insertMany(ids.map((_id) => ({ _id, reference: _id, ...overdue })));
    await db.command({ collMod: name, validator: { _id: { $ne: 'page-0' } } });
    try {
      const raised = await store?.raiseStalled(SECOND_MS);
      expect(raised).toMatchObject({ raised: 1_199, more: false });
      await db.command({ collMod: name, validator: {} });
      await collection.updateMany({ _id: { $in: ids } }, { $set: { next_check_at: ago(-60) } });
      expect(await store?.clearStalled()).toBe(false);
      expect(await collection.countDocuments({ _id: { $in: ids }, attention: null })).toBe(1_200);
    } finally {
      await db.command({ collMod: name, validator: {} });
      await collection.deleteMany({ _id: { $in: ids } });
    }
  });
});
