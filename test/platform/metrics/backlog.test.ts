import { backlogs } from '../../../src/composition/backlogs.js';
import { MongoClient } from 'mongodb';
import { Registry } from 'prom-client';
import { createLog } from '../../../src/shared/log.js';
import { backlogPipeline, measureBacklogs } from '../../../src/platform/metrics/backlog.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const log = createLog({ level: 'silent', name: 'test' });
const LONG_AGO = new Date(Date.now() - 3_600_000);
const AHEAD = new Date(Date.now() + 3_600_000);
/** Records with a final state, which no gauge may read. */
const FINAL_RECORDS = 500;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  const insert = (name: string, records: object[]) =>
    database.db
      .collection(name)
      .insertMany(records, { bypassDocumentValidation: true, ordered: false });
  let references = 0;
  const transfer = (changes: object) => ({
    tenant_id: 'ten_a',
    reference: `${(references += 1)}`,
    ...changes,
  });
  const many = (record: () => object) => Array.from({ length: FINAL_RECORDS }, record);
  await insert('transfers', [
    ...many(() => transfer({ next_check_at: null, attention: null })),
    transfer({ next_check_at: LONG_AGO, attention: null }),
    transfer({ next_check_at: LONG_AGO, attention: { since: LONG_AGO } }),
    transfer({ next_check_at: AHEAD, attention: null }),
    // Claimed, and changed since it was claimed.
    transfer({ next_check_at: AHEAD, claim: { by: 'a', until: AHEAD, from: LONG_AGO } }),
    transfer({ next_check_at: AHEAD, claim: { by: 'a', until: LONG_AGO, from: LONG_AGO } }),
  ]);
  await insert('charges', [
    ...many(() => transfer({ next_check_at: null, attention: null })),
    transfer({ next_check_at: LONG_AGO, attention: { since: LONG_AGO } }),
    transfer({ next_check_at: LONG_AGO, attention: null }),
    transfer({ next_check_at: AHEAD, attention: null }),
  ]);
  await insert('refunds', [
    ...many(() => transfer({ next_check_at: null, attention: null })),
    transfer({ next_check_at: LONG_AGO, attention: { since: LONG_AGO } }),
    transfer({ next_check_at: AHEAD, attention: null }),
  ]);
  await insert('recurring_charges', [
    { next_check_at: LONG_AGO, attention: { since: LONG_AGO } },
    { next_check_at: AHEAD },
    { next_check_at: null },
  ]);
  await insert('payment_tokens', [
    { next_check_at: LONG_AGO, attention: { since: LONG_AGO } },
    { next_check_at: AHEAD },
    { next_check_at: null },
  ]);
  await insert('bulk_transfers', [
    { next_check_at: LONG_AGO, attention: { since: LONG_AGO } },
    { next_check_at: AHEAD },
    { next_check_at: null },
  ]);
  for (const name of ['virtual_accounts', 'identity_checks', 'bill_payments', 'deposits']) {
    await insert(name, [
      ...many(() => transfer({ next_check_at: null, attention: null })),
      transfer({ next_check_at: LONG_AGO, attention: { since: LONG_AGO } }),
      transfer({ next_check_at: AHEAD, attention: null }),
    ]);
  }
  await insert('disputes', [
    ...many(() => ({ attention: null })),
    { attention: { since: LONG_AGO } },
  ]);
  await insert('provider_faults', [{ name: 'float', since: LONG_AGO, ended_at: null }]);
  const operation = (changes: object) => ({ ...transfer(changes), card_id: 'crd_a' });
  await insert('card_operations', [
    ...many(() => operation({ next_check_at: null, attention: null })),
    operation({ next_check_at: LONG_AGO, attention: { since: LONG_AGO } }),
    operation({ next_check_at: AHEAD, attention: { since: LONG_AGO } }),
  ]);
  await insert('card_authorizations', [
    ...many(() => ({ next_check_at: null, attention: null })),
    { next_check_at: LONG_AGO, attention: null },
    { next_check_at: AHEAD, attention: { since: LONG_AGO } },
  ]);
  await insert('card_disputes', [
    ...many(() => ({ next_check_at: null, attention: null })),
    { next_check_at: LONG_AGO, attention: null },
    { next_check_at: AHEAD, attention: { since: LONG_AGO } },
  ]);
  const created_at = LONG_AGO;
  await insert('webhook_deliveries', [
    ...many(() => ({ status: 'delivered', next_check_at: null, created_at })),
    { status: 'pending', next_check_at: AHEAD, created_at },
    { status: 'retrying', next_check_at: LONG_AGO, created_at },
    { status: 'dead', next_check_at: null, created_at },
  ]);
  await insert('webhook_endpoints', [
    ...many(() => ({ status: 'enabled', parked_at: null })),
    { status: 'parked', parked_at: LONG_AGO, failing: { since: LONG_AGO } },
    { status: 'enabled', parked_at: null, next_check_at: AHEAD, failing: { since: LONG_AGO } },
    { status: 'enabled', parked_at: null, next_check_at: LONG_AGO },
  ]);
  const attention = { since: LONG_AGO };
  // As with real events, no two keys are equal.
  const event = (changes: object, i = Math.random()) => ({ dedupe_key: `${i}`, ...changes });
  await insert('provider_events', [
    ...many(() => event({ next_check_at: null, attention: null })),
    event({ next_check_at: LONG_AGO, attention: null }),
    event({ next_check_at: null, attention }),
    event({ next_check_at: AHEAD, attention: null }),
  ]);
  await insert('provider_event_replays', [
    { next_check_at: LONG_AGO, attention: { since: LONG_AGO } },
    { next_check_at: AHEAD },
    { next_check_at: null },
  ]);
  const claimed = { name: 'Ada', claim: true };
  const request = { status: 'pending', maker: claimed, created_at, expires_at: AHEAD };
  await insert('approvals', [
    ...many(() => ({ ...request, status: 'used' })),
    request,
    ...many(() => ({ ...request, expires_at: LONG_AGO })),
    { ...request, maker: { operator: 'opr_1', name: 'Ada' } },
  ]);
});
afterAll(() => database.close());

/** The samples of one scrape by their names. */
async function scrape(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line && line[0] !== '#');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

const WAITING = {
  transfers_attention: 1,
  card_operations_attention: 2,
  transfers_overdue: 3,
  bulk_transfers_attention: 1,
  bulk_transfers_overdue: 1,
  card_operations_overdue: 1,
  card_authorizations_attention: 1,
  card_authorizations_overdue: 1,
  card_disputes_attention: 1,
  card_disputes_overdue: 1,
  charges_attention: 1,
  charges_overdue: 2,
  refunds_attention: 1,
  refunds_overdue: 1,
  virtual_accounts_attention: 1,
  virtual_accounts_overdue: 1,
  identity_checks_attention: 1,
  identity_checks_overdue: 1,
  bill_payments_attention: 1,
  bill_payments_overdue: 1,
  deposits_attention: 1,
  deposits_overdue: 1,
  provider_faults: 1,
  payment_tokens_attention: 1,
  payment_tokens_overdue: 1,
  provider_floats_short: 1,
  recurring_charges_attention: 1,
  recurring_charges_overdue: 1,
  webhooks_pending: 2,
  webhooks_dead: 1,
  webhooks_overdue: 1,
  webhook_endpoints_parked: 1,
  webhook_endpoints_failing: 1,
  webhook_endpoints_overdue: 1,
  disputes_attention: 1,
  provider_events_overdue: 1,
  provider_events_attention: 1,
  provider_event_replays_attention: 1,
  provider_event_replays_overdue: 1,
  approvals_claimed: 1,
};

test('a scrape has the size and the age of every backlog, also of what a dispatcher has claimed', async () => {
  const registry = new Registry();
  const claimedForMs = 2 * 3_600_000;
  measureBacklogs(registry, { db: database.db, backlogs, log, claimedForMs });
  const samples = await scrape(registry);
  expect(samples['bursar_up{dependency="mongodb"}']).toBe(1);
  for (const [backlog, count] of Object.entries(WAITING)) {
    const label = `{backlog="${backlog}"}`;
    expect({ backlog, count: samples[`bursar_backlog_records${label}`] }).toEqual({
      backlog,
      count,
    });
    expect(samples[`bursar_backlog_oldest_seconds${label}`]).toBeGreaterThanOrEqual(3_600);
  }
  expect(Object.keys(WAITING).toSorted()).toEqual(Object.keys(backlogs).toSorted());
});

test.each(Object.entries(backlogs))(
  'the gauge %s reads its index in order, and only waiting records',
  async (name, query) => {
    const plan = await database.db
      .collection(query.collection)
      .aggregate(backlogPipeline(query, new Date()), { hint: query.index })
      .explain('executionStats');
    const text = JSON.stringify(plan, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    expect(text).toContain('"IXSCAN"');
    expect(text).not.toContain('"COLLSCAN"');
    expect(text).not.toContain('"SORT"');
    const [, keys] = /"totalKeysExamined":(\d+)/.exec(text) ?? [];
    expect(Number(keys)).toBeLessThanOrEqual(WAITING[name as keyof typeof WAITING] + 1);
  },
);

test('after a failed reading the gauges keep the last one, and bursar_up is 0', async () => {
  const registry = new Registry();
  measureBacklogs(registry, { db: database.db, backlogs, log, readEveryMs: 0 });
  const before = await scrape(registry);
  const transfers = database.db.collection('transfers');
  // Without its index a backlog is not counted, and the collection is never scanned.
  await transfers.dropIndex('next_check_at_1');
  const after = await scrape(registry);
  expect(after['bursar_up{dependency="mongodb"}']).toBe(0);
  const records = 'bursar_backlog_records{backlog="transfers_overdue"}';
  expect(after[records]).toBe(before[records]);
});

test('a scrape is answered although the database never answers', async () => {
  const client = new MongoClient('mongodb://127.0.0.1:9/', { serverSelectionTimeoutMS: 3_600_000 });
  const registry = new Registry();
  measureBacklogs(registry, { db: client.db('nowhere'), backlogs, log });
  expect(await scrape(registry)).toEqual({ 'bursar_up{dependency="mongodb"}': 0 });
  await client.close();
});
