import { Registry } from 'prom-client';
import { expectedRuns } from '../../../src/composition/reconciliation.js';
import { measureReconciliations } from '../../../src/composition/reconciliation-metrics.js';
import {
  createReconciliationRuns,
  type ReconciliationRuns,
} from '../../../src/core/reconciliation/last-runs.js';
import { examineReconciliations } from '../../../src/ops/doctor/reconciliation.js';
import { HOUR_MS } from '../../../src/shared/durations.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const START = Date.parse('2026-11-21T09:00:00.000Z');
const TRANSFERS = { kind: 'transfers', provider: 'bank' };
const CHARGES = { kind: 'charges', provider: null };
const EXPECTED = [TRANSFERS, CHARGES].map((run) => ({ ...run, everyMs: HOUR_MS }));

let database: TestDatabase;
let runs: ReconciliationRuns;
let now: number;

beforeEach(async () => {
  database = await openTestDatabase();
  now = START;
  runs = createReconciliationRuns(database.db, () => new Date(now));
});
afterEach(() => database.close());

const row = (expected = EXPECTED) => examineReconciliations(database.db, expected, new Date(now));

test('the row of doctor fails once no run of a comparison has ended for twice its interval', async () => {
  expect(await row()).toMatchObject({
    ok: false,
    detail: 'transfers at bank: not scheduled; charges: not scheduled',
  });
  await runs.expect(EXPECTED);
  now += 2 * HOUR_MS;
  expect(await row()).toMatchObject({ check: 'reconciliation: runs', ok: true });
  await runs.noteEnd(CHARGES);
  now += 1;
  expect(await row()).toMatchObject({
    ok: false,
    detail: 'transfers at bank: no run has ended for 2 h',
  });
  await runs.noteEnd(TRANSFERS);
  expect(await row()).toMatchObject({ ok: true });
});

test('a restart of a worker is no sign of life, and a comparison that is turned on again has its whole interval', async () => {
  await runs.expect(EXPECTED);
  await runs.noteEnd(TRANSFERS);
  await runs.noteEnd(CHARGES);
  now += 3 * HOUR_MS;
  await runs.expect(EXPECTED);
  expect(await row()).toMatchObject({ ok: false });
  await runs.expect([]);
  expect(await row([])).toMatchObject({ ok: true, detail: 'turned off' });
  expect(await runs.list(EXPECTED)).toEqual([]);
  await runs.expect(EXPECTED);
  expect(await row()).toMatchObject({ ok: true });
});

test('a comparison is expected of each provider that has records of its kind, and none while it is turned off', () => {
  const providers = {
    all: [{ name: 'bank' }, { name: 'paystack', ledger: () => undefined }],
    accountProviders: [{ name: 'bank' }],
    rateLimits: [{ name: 'bank-accounts', callsPerSecond: 1, bulkTransfersOf: null }],
  } as unknown as Parameters<typeof expectedRuns>[1];
  const settings = (days: number, searchDays: number) => ({
    reconciliation: { days, statementDays: days, everyMs: 1 },
    deposits: { maxMinor: 1n, days: searchDays, everyMs: 2 },
  });
  expect(expectedRuns(settings(0, 0), providers)).toEqual([]);
  expect(expectedRuns(settings(7, 1), providers)).toEqual([
    { kind: 'transfers', provider: 'bank', everyMs: 1 },
    { kind: 'transfers', provider: 'paystack', everyMs: 1 },
    { kind: 'deposits', provider: null, everyMs: 1 },
    { kind: 'virtual-accounts', provider: null, everyMs: 1 },
    { kind: 'statements', provider: 'paystack', everyMs: 1 },
    { kind: 'deposit-search', provider: 'bank', everyMs: 2 },
  ]);
});

test('the metrics have the last run of each comparison beside its interval', async () => {
  const registry = new Registry();
  const log = createLog({ level: 'silent', name: 'test' });
  measureReconciliations(registry, { runs, expected: EXPECTED, log, readEveryMs: 0 });
  await runs.expect(EXPECTED);
  now += HOUR_MS;
  await runs.noteEnd(CHARGES);
  const text = await registry.metrics();
  const name = 'bursar_reconciliation_last_run_timestamp_seconds';
  expect(text).toContain(`${name}{kind="transfers",provider="bank"} ${START / 1000}\n`);
  expect(text).toContain(`${name}{kind="charges",provider=""} ${now / 1000}\n`);
  expect(text).toContain(
    'bursar_reconciliation_interval_seconds{kind="charges",provider=""} 3600\n',
  );
});
