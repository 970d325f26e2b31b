import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { acceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import { createTransfers, type Transfers } from '../../src/capabilities/transfers/store.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import { archivedRecords, audits } from '../../src/composition/capabilities.js';
import { createGroupCommit, type GroupCommit } from '../../src/core/commit/group-commit.js';
import { archiveDays } from '../../src/core/ledger/archive.js';
import { readArchive, type ArchiveLine } from '../../src/core/ledger/archive-file.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { readBalance } from '../../src/core/ledger/balance.js';
import { closeDueDays } from '../../src/core/ledger/closing.js';
import type { ClosedDayDocument } from '../../src/core/ledger/collections.js';
import { lagosDay } from '../../src/core/ledger/wallet.js';
import { idOf, newId } from '../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../support/transfers.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const CREDIT = 1_000_000n;
const COLLECTIONS = [
  'postings',
  'transfers',
  'bulk_transfers',
  'webhook_events',
  'webhook_deliveries',
];

let database: TestDatabase;
let groupCommit: GroupCommit;
let transfers: Transfers;
let folder: string;
let tenantId: string;

beforeEach(async () => {
  database = await openTestDatabase();
  groupCommit = createGroupCommit(database);
  transfers = createTransfers(database, groupCommit, 1_000);
  folder = mkdtempSync(join(tmpdir(), 'bursar-archive-'));
  tenantId = newId('tenant');
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.close();
});

const dayAgo = (days: number) => lagosDay(new Date(Date.now() - days * DAY_MS));
const problems = async () => (await auditLedger(database, audits)).problems;

/** Makes a transfer with an event and a bulk transfer, so many days ago. */
async function send(daysAgo: number, kind: 'succeeded' | 'rejected' | null): Promise<Transfer> {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const transfer = pendingTransfer({ tenant_id: tenantId, created_at: at, next_check_at: at });
  const { _id: id } = transfer;
  await creditWallet(groupCommit, { tenantId, amountMinor: CREDIT, reference: id });
  await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
  const about = { amountMinor: null, sessionId: 's', code: 'account_closed' };
  if (kind) await transfers.applyFact(tenantId, id, { ...byProvider, ...about, kind });
  const { db } = database;
  await db
    .collection<{ _id: string }>('postings')
    .updateMany(
      { $or: [{ _id: { $gte: `${id}/`, $lt: `${id}0` } }, { _id: `credit/${tenantId}/${id}` }] },
      [{ $set: { at: { $subtract: ['$at', daysAgo * DAY_MS] } } }] as Document[],
    );
  await writeEvent(id, at);
  await db.collection<{ _id: string }>('bulk_transfers').insertOne({
    _id: newId('bulkTransfer'),
    tenant_id: tenantId,
    provider: 'sandbox-bank',
    items: [{ reference: id, id, error: null }],
    next_check_at: null,
    created_at: at,
  } as Document & { _id: string });
  return transfer;
}

async function writeEvent(resource: string, at: Date): Promise<void> {
  const { db } = database;
  const bytes = Buffer.concat([
    Buffer.alloc(6),
    Buffer.from(crypto.getRandomValues(new Uint8Array(10))),
  ]);
  bytes.writeUIntBE(at.getTime(), 0, 6);
  const [event, delivery] = [idOf('event', bytes), idOf('webhookDelivery', bytes)];
  const common = {
    tenant_id: tenantId,
    resource_id: resource,
    name: 'transfer.completed',
    sequence: 1,
  };
  await db
    .collection<{ _id: string }>('webhook_events')
    .insertOne({ _id: event, ...common, body: '{}', created_at: at } as Document & { _id: string });
  await db.collection<{ _id: string }>('webhook_deliveries').insertOne({
    _id: delivery,
    ...common,
    event_id: event,
    endpoint_id: 'whe_1',
    status: 'delivered',
    attempt_count: 1,
    attempts: [],
    next_check_at: null,
    created_at: at,
  } as Document & { _id: string });
}

const archive = (onStep?: (step: string) => void) =>
  archiveDays({
    database,
    records: archivedRecords,
    folder,
    before: dayAgo(30),
    ...(onStep && { onStep }),
  });

/** All documents of the collections above, in the database. */
async function stored(): Promise<Map<string, Document>> {
  const all = new Map<string, Document>();
  for (const name of COLLECTIONS) {
    for await (const document of database.db.collection<{ _id: string }>(name).find()) {
      all.set(`${name}/${document._id}`, document);
    }
  }
  return all;
}

/** The documents of all archives that the days name. */
async function archived(): Promise<Map<string, ArchiveLine['document']>> {
  const all = new Map<string, ArchiveLine['document']>();
  const days = database.db.collection<ClosedDayDocument>('ledger_days');
  for await (const { archived: file } of days.find({ archived: { $exists: true } })) {
    if (!file) continue;
    for await (const line of readArchive(folder, file)) {
      all.set(`${line.collection}/${line.document._id}`, line.document);
    }
  }
  return all;
}

/** Books of 60, 50 and 2 days ago, closed. One old transfer is still open. */
async function makeBooks() {
  const done = [
    await send(60, 'succeeded'),
    await send(50, 'rejected'),
    await send(50, 'succeeded'),
  ];
  const open = await send(60, null);
  const recent = await send(2, 'succeeded');
  await closeDueDays(database.db, '');
  expect(await problems()).toEqual([]);
  return { done, open, recent };
}

test('an archive has what it removes, and the books and the totals of lists still agree', async () => {
  const { done, open, recent } = await makeBooks();
  const before = await stored();
  const balance = await readBalance(database, tenantId);
  const audited = await auditLedger(database, audits);
  expect(await archive()).toEqual({
    archived: 2,
    removed: {
      postings: 3 + 2 + 3 + 3,
      transfers: 3,
      bulk_transfers: 4,
      webhook_events: 4,
    },
    refused: [],
  });
  const [left, files] = [await stored(), await archived()];
  for (const [id] of before) expect([id, left.has(id)]).toEqual([id, !files.has(id)]);
  expect(new Set([...left.keys(), ...files.keys()])).toEqual(new Set(before.keys()));
  expect([...left.keys()].filter((id) => id.startsWith('transfers/')).toSorted()).toEqual(
    [open, recent].map(({ _id }) => `transfers/${_id}`).toSorted(),
  );
  const transfer = files.get(`transfers/${done[0]?._id}`);
  expect(transfer).toMatchObject({ status: 'completed', total_minor: 251_000n });
  expect(transfer?.['created_at']).toEqual(done[0]?.created_at);

  expect(await readBalance(database, tenantId)).toEqual(balance);
  const after = await auditLedger(database, audits);
  expect(after).toMatchObject({ problems: [], postings: audited.postings });
  expect(after.balances).toEqual(audited.balances);
  const query = { page: 1, limit: 20, sort: { field: 'created_at', descending: true } } as const;
  expect((await transfers.list(tenantId, query)).total).toBe(2);
  expect((await transfers.list(tenantId, { ...query, status: 'failed' })).total).toBe(0);
  expect(await archive()).toEqual({ archived: 0, removed: {}, refused: [] });
});

test('an open transfer whose hold is archived ends as any other', async () => {
  const { open } = await makeBooks();
  await archive();
  const about = { amountMinor: null, sessionId: 's', code: 'account_closed' };
  await transfers.applyFact(tenantId, open._id, { ...byProvider, ...about, kind: 'rejected' });
  expect(await problems()).toEqual([]);
  expect((await readBalance(database, tenantId)).heldMinor).toBe(0n);
});

test('an archive that died after any step loses nothing, keeps the books right, and is continued', async () => {
  let died = 0;
  for (let ended = false; !ended; died += 1) {
    tenantId = newId('tenant');
    const { open, recent } = await makeBooks();
    const before = await stored();
    let step = 0;
    ended = await archive(() => {
      if (step === died) throw new Error('died');
      step += 1;
    }).then(
      () => true,
      (error: Error) => {
        expect(error.message).toBe('died');
        return false;
      },
    );
    // Each document is in the database or in a file that counts, and each step leaves correct books.
    const kept = new Set([...(await stored()).keys(), ...(await archived()).keys()]);
    expect([...before.keys()].filter((id) => !kept.has(id))).toEqual([]);
    expect(await problems()).toEqual([]);
    await archive();
    const left = [...(await stored()).keys()].filter((id) => id.startsWith('transfers/'));
    expect(left).toEqual(
      expect.arrayContaining([`transfers/${open._id}`, `transfers/${recent._id}`]),
    );
    expect(left).toHaveLength(2 * (died + 1));
    expect(await problems()).toEqual([]);
  }
  expect(died).toBeGreaterThan(12);
});

test('a record that changed after its export stays', async () => {
  const { done } = await makeBooks();
  const id = done[2]?._id ?? '';
  const about = { amountMinor: null, sessionId: 's', code: 'reversed' };
  let named = 0;
  await archive((step) => {
    if (step === 'named') named += 1;
    if (named === 2) throw new Error('died');
  }).catch(() => undefined);
  await transfers.applyFact(tenantId, id, { ...byProvider, ...about, kind: 'reversed' });
  expect(await archive()).toMatchObject({ archived: 1, refused: [] });
  expect((await archived()).get(`transfers/${id}`)).toMatchObject({ status: 'completed' });
  expect(await database.db.collection<Transfer>('transfers').findOne({ _id: id })).toMatchObject({
    status: 'failed',
  });
  expect(await problems()).toEqual([]);
});

test('nothing is removed if the file was changed or the postings are not those that were closed', async () => {
  const { done } = await makeBooks();
  const postings = database.db.collection<{ _id: string }>('postings');
  const hold = { _id: `${done[0]?._id}/hold` };
  const { at } = (await postings.findOne(hold)) as unknown as { at: Date };
  await postings.updateOne(hold, { $set: { at: new Date(at.getTime() + 1) } });
  const all = (await stored()).size;
  const refused = [`${tenantId}: the postings of ${dayAgo(60)} are not those that were closed`];
  expect(await archive()).toEqual({ archived: 0, removed: {}, refused });
  await postings.updateOne(hold, { $set: { at } });

  await archive((step) => {
    if (step === 'named') throw new Error('died');
  }).catch(() => undefined);
  const days = database.db.collection<ClosedDayDocument>('ledger_days');
  const file = (await days.findOne({ archived: { $exists: true } }))?.archived?.file ?? '';
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"completed"', '"failed"'));
  expect(await archive()).toMatchObject({
    archived: 0,
    removed: {},
    refused: [`${tenantId}: ${file} is not the archive that was written`],
  });
  rmSync(path);
  expect((await archive()).refused).toEqual([`${tenantId}: ${file} can't be read`]);
  expect((await stored()).size).toBe(all);
  writeFileSync(path, text);
  expect(await archive()).toMatchObject({ archived: 2, refused: [] });
  expect(await problems()).toEqual([]);
});

test('a posting that appears on an archived day is found', async () => {
  await makeBooks();
  await archive();
  const line = [...(await archived())].find(([id]) => id.startsWith('postings/'));
  const posting = { ...(line?.[1] as Document & { _id: string }), _id: 'late/hold' };
  await database.db.collection<{ _id: string }>('postings').insertOne(posting);
  expect(await problems()).toContain('late/hold is dated on a day that is archived');
});

test('the files are for each tenant and day, and no part is left', async () => {
  await makeBooks();
  await archive();
  const names = readdirSync(join(folder, tenantId)).toSorted();
  expect(names).toEqual([
    expect.stringMatching(new RegExp(`^${dayAgo(60)}\\.[0-9a-f]{16}\\.ndjson$`)),
    expect.stringMatching(new RegExp(`^${dayAgo(50)}\\.[0-9a-f]{16}\\.ndjson$`)),
  ]);
  for (const name of names)
    expect(statSync(join(folder, tenantId, name)).size).toBeGreaterThan(100);
});
