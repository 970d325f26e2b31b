import { Registry } from 'prom-client';
import { reconcilePage } from '../../../activities/reconciliation.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { measureBreaks } from '../../../src/composition/break-metrics.js';
import { breakId, type Break, type FoundBreak } from '../../../src/core/reconciliation/break.js';
import {
  compareOpenBreaks,
  createBreaks,
  type Compared,
} from '../../../src/core/reconciliation/breaks.js';
import type { VerifyAnswer } from '../../../src/core/providers/transfer-provider.js';
import { reconciledBy, type Reconciled } from '../../../src/core/reconciliation/comparison.js';
import {
  describePayment,
  paymentAgrees,
} from '../../../src/core/reconciliation/payment-answers.js';
import { paymentRateLimitKey } from '../../../src/platform/temporal/queues.js';
import { examineBacklog } from '../../../src/ops/doctor/backlog.js';
import { createLog } from '../../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { pendingTransfer } from '../../support/transfers.js';

const HOUR_MS = 3_600_000;
const START = new Date('2026-11-20T08:00:00Z').getTime();

let database: TestDatabase;
let now = START;
let breaks: ReturnType<typeof createBreaks>;

beforeAll(async () => {
  database = await openTestDatabase();
  breaks = createBreaks(database.db, () => new Date(now));
});
afterAll(() => database.close());
beforeEach(async () => {
  now = START;
  await database.db.collection('reconciliation_breaks').deleteMany({});
});

const broken = (changes: Partial<FoundBreak> = {}): FoundBreak => ({
  kind: 'other_state',
  source: 'record',
  provider: 'bank',
  capability: 'transfers',
  reference: 'trf_1',
  tenantId: 'ten_1',
  amountMinor: 250_000n,
  difference: 'completed with us, reversed at the bank',
  ...changes,
});

/** A run an hour after the last one, which has compared these references. */
const run = (found: FoundBreak[], changes: Partial<Compared> = {}) => {
  now += HOUR_MS;
  const references = ['trf_1', 'trf_2'];
  return breaks.note({ source: 'record', provider: 'bank', references, found, ...changes });
};

const stored = () => database.db.collection<Break>('reconciliation_breaks').find().toArray();

async function accept(id: string, reason = 'agreed with the bank') {
  const session = database.client.startSession();
  try {
    return await breaks.accept(id, { operator: 'Ada', reason }, session);
  } finally {
    await session.endSession();
  }
}

test('a break that each run finds again is one record with its first and its last time', async () => {
  await run([broken()]);
  await run([broken({ amountMinor: 250_001n })]);
  await run([broken({ amountMinor: 250_001n })]);
  expect(await stored()).toMatchObject([
    {
      status: 'open',
      seen: 3,
      amount_minor: 250_001n,
      first_seen_at: new Date(START + HOUR_MS),
      opened_at: new Date(START + HOUR_MS),
      last_seen_at: new Date(START + 3 * HOUR_MS),
    },
  ]);
});

test('a run that finds agreement closes the breaks of what it has compared, and no others', async () => {
  await run([
    broken(),
    broken({ kind: 'other_amount' }),
    broken({ reference: 'trf_2' }),
    broken({ reference: 'trf_3' }),
  ]);
  await run([broken({ source: 'statement' })], { source: 'statement' });
  await run([broken({ provider: 'another' })], { provider: 'another' });
  await run([broken()], { references: ['trf_1'] });
  const open = await breaks.list({ status: 'open', limit: 10 });
  const named = ({ kind, source, provider, reference }: Break) =>
    [kind, source, provider, reference].join(' ');
  expect(open.map(named).toSorted()).toEqual([
    'other_state record another trf_1',
    'other_state record bank trf_1',
    'other_state record bank trf_2',
    'other_state record bank trf_3',
    'other_state statement bank trf_1',
  ]);
  expect(await breaks.list({ status: 'closed', limit: 10 })).toMatchObject([
    { kind: 'other_amount', closed: { by: 'agreement' } },
  ]);
});

test('a break that comes back is open again, with the age of its return', async () => {
  await run([broken()]);
  await run([]);
  await run([broken()]);
  expect(await stored()).toMatchObject([
    {
      status: 'open',
      closed: null,
      first_seen_at: new Date(START + HOUR_MS),
      opened_at: new Date(START + 3 * HOUR_MS),
    },
  ]);
});

test('what an operator has accepted stays closed while it is the same, and is open again with another amount', async () => {
  await run([broken()]);
  const id = breakId(broken());
  expect(await accept(id)).toMatchObject({ closed: { by: 'operator', operator: 'Ada' } });
  expect(await accept(id)).toBeNull();
  await run([broken()]);
  expect(await breaks.find(id)).toMatchObject({ status: 'closed', seen: 2 });
  await run([broken({ amountMinor: 1n })]);
  expect(await breaks.find(id)).toMatchObject({ status: 'open', closed: null });
});

test('the metrics and the doctor have the open breaks by kind and age', async () => {
  now = Date.now() - 30 * HOUR_MS;
  await run([broken(), broken({ kind: 'duplicate', amountMinor: 5n })]);
  now = Date.now();
  await run([broken({ kind: 'duplicate', reference: 'trf_9', amountMinor: 7n })], {
    references: [],
  });
  const registry = new Registry();
  const log = createLog({ level: 'silent', name: 'test' });
  measureBreaks(registry, { db: database.db, log });
  const text = await registry.metrics();
  expect(text).toContain('bursar_reconciliation_breaks{kind="duplicate",age="under_1w"} 1');
  expect(text).toContain('bursar_reconciliation_breaks{kind="duplicate",age="under_1d"} 1');
  expect(text).toContain('bursar_reconciliation_breaks_kobo{kind="duplicate",age="under_1d"} 7');
  expect(text).toContain('bursar_reconciliation_breaks{kind="gap",age="over_1w"} 0');
  const rows = await examineBacklog(database.db);
  expect(rows.find(({ check }) => check === 'reconciliation: breaks')).toMatchObject({
    ok: false,
    detail: '2 duplicate, 1 other_state; the oldest for 29 h',
  });
});

test('open breaks that cannot be compared let the others go first in the next run', async () => {
  const ids = Array.from({ length: 6 }, (_, i) => `chg_${i}`);
  for (const reference of ids) {
    await run([broken({ reference, capability: 'charges' })], { references: [reference] });
  }
  now += HOUR_MS + 1;
  const tried: string[][] = [];
  for (let each = 0; each < 3; each += 1) {
    const of: string[] = [];
    await compareOpenBreaks(breaks, { capability: 'charges', limit: 4 }, async (keys) => {
      of.push(...keys.map(({ id }) => id));
      return { unanswered: 0 };
    });
    now += HOUR_MS;
    tried.push(of);
  }
  expect(tried).toEqual([
    ['chg_0', 'chg_1', 'chg_2', 'chg_3'],
    ['chg_4', 'chg_5', 'chg_0', 'chg_1'],
    ['chg_2', 'chg_3', 'chg_0', 'chg_1'],
  ]);
});

test('a run that compares open breaks ends after three minutes, and the next one begins with the others', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `chg_${i}`);
  for (const reference of ids) {
    now += 1;
    await breaks.note({
      source: 'record',
      provider: 'bank',
      references: [reference],
      found: [broken({ reference, capability: 'charges' })],
    });
  }
  now += HOUR_MS + 1;
  /** A run whose provider needs so long for the records that are compared at once. */
  async function compareFor(msEach: number): Promise<string[]> {
    const compared: string[] = [];
    const of = { capability: 'charges', limit: ids.length };
    const clock = { ms: 0 };
    await compareOpenBreaks(
      breaks,
      of,
      async (keys) => {
        compared.push(...keys.map(({ id }) => id));
        clock.ms += msEach;
        return { unanswered: 0 };
      },
      () => clock.ms,
    );
    now += HOUR_MS;
    return compared;
  }
  // Eight at once: those that have begun before the time is over are compared to the end.
  const first = await compareFor(100_000);
  expect(first).toEqual(ids.slice(0, 16));
  const second = await compareFor(1_000);
  expect(second).toEqual([...ids.slice(16), ...ids.slice(0, 16)]);
});

test('open breaks without an answer end their comparison, and are not counted as unanswered of the page', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `chg_${i}`);
  await run(
    ids.map((reference) => broken({ reference, capability: 'charges' })),
    { references: ids },
  );
  now += HOUR_MS + 1;
  const asked: string[] = [];
  const gone = { reconcileOne: async () => false, reconcile: async () => undefined };
  const page = await reconcilePage(
    {
      reconciled: {
        charges: {
          ...gone,
          kind: 'charges',
          reconcilePage: async () => null,
          async reconcileAll({ report }, keys) {
            asked.push(...keys.map(({ id }) => id));
            report.asked += keys.length;
            report.unanswered += keys.length;
          },
        },
      },
      breaks,
      tenants: { list: async () => [] },
      callRates: { answered: () => undefined },
    },
    { kind: 'charges', days: 3, perSecond: 1_000, position: null },
  );
  expect(asked).toHaveLength(16);
  expect(page.counts).toEqual({ asked: 0, unanswered: 0, differing: 0, settled: 0 });
});

test('the days of a scheduled run count from its first page, however long it takes', async () => {
  const since: Date[] = [];
  const charges: Reconciled = {
    kind: 'charges',
    reconcile: async () => undefined,
    reconcileOne: async () => false,
    reconcileAll: async () => undefined,
    async reconcilePage(_, scope) {
      since.push(scope.since);
      return null;
    },
  };
  const until = new Date(START).toISOString();
  await reconcilePage(
    {
      reconciled: { charges },
      breaks,
      tenants: { list: async () => [] },
      callRates: { answered: () => undefined },
    },
    {
      kind: 'charges',
      days: 3,
      perSecond: 1_000,
      position: { tenant: 'ten_9', after: null, until },
    },
  );
  expect(since).toEqual([new Date(START - 72 * HOUR_MS)]);
});

test('a scheduled run closes the break of a record that is too old for its days, once both sides agree', async () => {
  const of = (reference: string) => broken({ reference, capability: 'charges' });
  await run([of('chg_1'), of('chg_2')], { references: ['chg_1', 'chg_2'] });
  now += HOUR_MS + 1;
  const records = ['chg_1', 'chg_2'].map((_id) =>
    pendingTransfer({ _id, tenant_id: 'ten_1', provider: 'bank', status: 'completed' }),
  );
  const compared = reconciledBy<Transfer, VerifyAnswer>(
    {
      kind: 'charges',
      rateLimitKey: paymentRateLimitKey,
      get: async (tenantId, id) =>
        records.find(({ _id, tenant_id }) => _id === id && tenant_id === tenantId) ?? null,
      ask: async ({ _id }) =>
        _id === 'chg_1'
          ? { kind: 'succeeded', amountMinor: null, sessionId: null, providerRequestId: null }
          : { kind: 'not_found', providerRequestId: null },
      agrees: paymentAgrees,
      describe: describePayment,
      apply: async () => null,
    },
    async function* none() {},
  );
  const page = await reconcilePage(
    {
      // No record is in the days of the run.
      reconciled: { charges: { ...compared, reconcilePage: async () => null } },
      breaks,
      tenants: { list: async () => [] },
      callRates: { answered: () => undefined },
    },
    { kind: 'charges', days: 3, perSecond: 1_000, position: null },
  );
  expect(page.counts).toMatchObject({ asked: 2, differing: 1 });
  const open = (await stored()).filter(({ status }) => status === 'open');
  expect(open.map(({ reference }) => reference)).toEqual(['chg_2']);
});
