import type { Document } from 'mongodb';
import { acceptTransfer } from '../../../src/capabilities/transfers/mutations.js';
import { createTransfers, type Transfers } from '../../../src/capabilities/transfers/store.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { audits } from '../../../src/composition/capabilities.js';
import { createGroupCommit, type GroupCommit } from '../../../src/core/commit/group-commit.js';
import { auditLedger, newAudit, type AuditState } from '../../../src/core/ledger/audit.js';
import { readBalance } from '../../../src/core/ledger/balance.js';
import { closeDueDays } from '../../../src/core/ledger/closing.js';
import type { PostingDocument } from '../../../src/core/ledger/collections.js';
import { lagosDay } from '../../../src/core/ledger/wallet.js';
import type { Client } from '@temporalio/client';
import { createLedger, type Ledger } from '../../../src/core/ledger/index.js';
import type { Config } from '../../../src/shared/config.js';
import { createLog } from '../../../src/shared/log.js';
import { newId } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../../support/transfers.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const CREDIT = 1_000_000n;

let database: TestDatabase;
let groupCommit: GroupCommit;
let transfers: Transfers;
let number = 0;

beforeEach(async () => {
  database = await openTestDatabase();
  groupCommit = createGroupCommit(database);
  transfers = createTransfers(database, groupCommit, 1_000);
});
afterEach(() => database.close());

const postings = () => database.db.collection<PostingDocument>('postings');
const dayAgo = (days: number) => lagosDay(new Date(Date.now() - days * DAY_MS));
const closeDays = () => closeDueDays(database.db, '');
const audit = () => auditLedger(database, audits);
const problems = async () => (await audit()).problems;
const closings = () => database.db.collection('ledger_closings').find().sort({ _id: 1 }).toArray();

/** Makes a completed transfer of a tenant. Its postings are dated back by so many days. */
async function send(tenantId: string, daysAgo: number): Promise<string> {
  number += 1;
  const transfer = pendingTransfer({ tenant_id: tenantId, created_at: new Date() });
  await creditWallet(groupCommit, { tenantId, amountMinor: CREDIT, reference: `${number}` });
  await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
  const about = { amountMinor: null, sessionId: 's', code: 'none' };
  await transfers.applyFact(tenantId, transfer._id, { ...byProvider, ...about, kind: 'succeeded' });
  const own = {
    $or: [
      { _id: { $gte: `${transfer._id}/`, $lt: `${transfer._id}0` } },
      { _id: `credit/${tenantId}/${number}` },
    ],
  };
  await postings().updateMany(own, [
    { $set: { at: { $subtract: ['$at', daysAgo * DAY_MS] } } },
  ] as Document[]);
  return transfer._id;
}

/** Two tenants with transfers on two closed days and on the open one. */
async function makeBooks(): Promise<{ tenants: string[]; sent: string[][] }> {
  const tenants = [newId('tenant'), newId('tenant')];
  const sent: string[][] = [];
  for (const tenant of tenants) {
    sent.push([await send(tenant, 4), await send(tenant, 2), await send(tenant, 0)]);
  }
  return { tenants, sent };
}

test('a closing has the opening balance, the movements and the closing balance of each account that moved', async () => {
  const { tenants } = await makeBooks();
  const before = await readBalance(database, tenants[0] ?? '');
  expect(await closeDays()).toEqual({ closed: 4, refused: [], next: null });
  const own = (await closings()).filter(({ tenant_id: tenant }) => tenant === tenants[0]);
  const available = own.filter(({ account }) => account === `wallet:${tenants[0]}:available`);
  expect(available).toMatchObject([
    {
      day: dayAgo(4),
      opening_minor: 0n,
      debits_minor: 251_000n,
      credits_minor: CREDIT,
      closing_minor: CREDIT - 251_000n,
      postings: 2,
    },
    {
      day: dayAgo(2),
      opening_minor: CREDIT - 251_000n,
      debits_minor: 251_000n,
      credits_minor: CREDIT,
      closing_minor: 2n * (CREDIT - 251_000n),
      postings: 2,
    },
  ]);
  const fees = own.filter(({ account }) => account === 'fees');
  expect(fees.map(({ closing_minor: balance }) => balance)).toEqual([1_000n, 2_000n]);
  expect(await readBalance(database, tenants[0] ?? '')).toEqual(before);
  expect(await closeDays()).toEqual({ closed: 0, refused: [], next: null });
  expect(await audit()).toMatchObject({ problems: [], closedDays: 4, postings: 18, sumMinor: 0n });
});

test('a closing that died before its day was closed is repeated with the same result', async () => {
  const { tenants } = await makeBooks();
  await closeDays();
  const complete = await closings();
  const days = database.db.collection<{ _id: string }>('ledger_days');
  const id = `${tenants[1]}/${dayAgo(2)}`;
  // Some closings are written, one of them before its last posting, and the day is not closed.
  await days.deleteOne({ _id: id });
  const written = database.db.collection<{ _id: string }>('ledger_closings');
  await written.deleteOne({ _id: `${id}/fees` });
  await written.updateOne(
    { _id: `${id}/suspense` },
    { $set: { credits_minor: 7n, closing_minor: 7n } },
  );
  expect(await problems()).toEqual([]);
  expect(await closeDays()).toEqual({ closed: 1, refused: [], next: null });
  expect(await closings()).toEqual(complete);
  expect(await problems()).toEqual([]);
});

test('a day with a posting that does not balance is not closed, and other tenants are', async () => {
  const { tenants, sent } = await makeBooks();
  await postings().updateOne(
    { _id: `${sent[0]?.[0]}/hold` },
    { $inc: { 'legs.0.amount_minor': 5n } },
  );
  expect(await closeDays()).toEqual({
    closed: 2,
    refused: [`${tenants[0]}/${dayAgo(4)}`],
    next: null,
  });
  expect(await problems()).toContain(`posting ${sent[0]?.[0]}/hold does not balance`);
});

test('every worker reports the days that the last run refused, whichever worker made its steps', async () => {
  const { sent } = await makeBooks();
  const config = { ledger: { closingEveryMs: 0 }, temporal: { taskQueue: 'q' } } as Config;
  const client = {} as Client;
  const log = createLog({ level: 'silent', name: 'test' });
  const [one, other] = [0, 1].map(() => createLedger({ db: database.db, client, config, log })) as [
    Ledger,
    Ledger,
  ];
  expect(await one.lastRun()).toBeNull();
  const broken = (amount: bigint) =>
    postings().updateOne(
      { _id: `${sent[0]?.[0]}/hold` },
      { $inc: { 'legs.0.amount_minor': amount } },
    );
  await broken(5n);
  const none = () => undefined;
  const before = { after: '', counts: { closed: 1, refused: 1 } };
  expect(await one.closeDays(before, none)).toMatchObject({ next: null, counts: { refused: 1 } });
  expect(await other.lastRun()).toMatchObject({ closed: 3, refused: 2 });
  await broken(-5n);
  await other.closeDays({ after: '' }, none);
  expect(await one.lastRun()).toMatchObject({ closed: 2, refused: 0 });
});

test.each([
  ['of a closed day', 0],
  ['of the open day', 2],
])(
  'a posting %s that was changed by hand is found, on accounts of wallets and of the house',
  async (_, nth) => {
    const { tenants, sent } = await makeBooks();
    await closeDays();
    const id = `${sent[1]?.[nth]}/resolve`;
    const { legs } = (await postings().findOne({ _id: id })) ?? { legs: [] };
    // It still balances: the house takes a larger fee from the clearing account.
    const changed = legs.map((leg) => ({
      ...leg,
      amount_minor:
        leg.amount_minor +
        (leg.account === 'fees' ? 5n : leg.account.startsWith('clearing:') ? -5n : 0n),
    }));
    await postings().updateOne({ _id: id }, { $set: { legs: changed } });
    const found = await problems();
    expect(found).toContain(`${id} is not the posting of a completed transfer`);
    if (nth === 0) {
      const day = `${tenants[1]}/${dayAgo(4)}`;
      expect(found).toContain(`${day} was closed with 3 postings; its 3 postings are not those`);
      expect(found.filter((each) => each.startsWith(`${day}/fees says 0 debits`))).toHaveLength(1);
    }
    await postings().updateOne({ _id: id }, { $set: { legs } });
    await postings().deleteOne({ _id: id });
    expect((await problems()).length).toBeGreaterThan(0);
  },
);

test('a posting that is dated on a closed day later is found, also on a day without postings', async () => {
  const { tenants, sent } = await makeBooks();
  await closeDays();
  const late = { _id: `${sent[0]?.[2]}/hold` };
  const at = (await postings().findOne(late))?.at ?? new Date();
  for (const days of [4, 3]) {
    await postings().updateOne(late, { $set: { at: new Date(at.getTime() - days * DAY_MS) } });
    const found = await problems();
    expect(found).toContain(
      days === 4
        ? `${tenants[0]}/${dayAgo(4)} was closed with 3 postings; its 4 postings are not those`
        : `${late._id} is dated on a day that was closed without it`,
    );
  }
});

test('a closing that was changed by hand is found', async () => {
  const { tenants } = await makeBooks();
  await closeDays();
  const id = `${tenants[0]}/${dayAgo(4)}/fees`;
  await database.db
    .collection<{ _id: string }>('ledger_closings')
    .updateOne({ _id: id }, { $inc: { closing_minor: 1n } });
  expect(await problems()).toContain(`${id} closes at 1001, its movements give 1000`);
});

test('a posting is booked at the time of its commit, so an acceptance that waited does not reach a closed day', async () => {
  const tenantId = newId('tenant');
  const begin = Date.now();
  await creditWallet(groupCommit, { tenantId, amountMinor: CREDIT, reference: 'a' });
  const transfer = pendingTransfer({
    tenant_id: tenantId,
    created_at: new Date(begin - 3 * DAY_MS),
  });
  await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
  const hold = await postings().findOne({ _id: `${transfer._id}/hold` });
  expect(hold?.at.getTime()).toBeGreaterThanOrEqual(begin - 1_000);
});

test('an audit that died after any step continues behind it and finds the same', async () => {
  const { sent } = await makeBooks();
  await closeDays();
  await postings().deleteOne({ _id: `${sent[0]?.[0]}/resolve` });
  await postings().deleteOne({ _id: `${sent[1]?.[2]}/resolve` });
  const complete = await audit();
  expect(complete.problems.length).toBeGreaterThan(3);
  let steps = Infinity;
  for (let died = 1; died < steps; died += 1) {
    let saved = JSON.stringify(newAudit());
    let step = 0;
    const dying = async (state: AuditState) => {
      step += 1;
      if (step > died) throw new Error('died');
      saved = JSON.stringify(state);
    };
    await auditLedger(database, audits, { onState: dying }).catch((error: Error) =>
      expect(error.message).toBe('died'),
    );
    if (step <= died) steps = died;
    const state = JSON.parse(saved) as AuditState;
    expect(await auditLedger(database, audits, { state })).toEqual(complete);
  }
  expect(steps).toBeGreaterThan(8);
});

test('an audit of one tenant, or of the days since one, leaves the others out', async () => {
  const { tenants, sent } = await makeBooks();
  await closeDays();
  await postings().deleteOne({ _id: `${sent[0]?.[0]}/resolve` });
  const of = async (scope: { tenantId?: string; from?: string }) =>
    auditLedger(database, audits, { scope });
  expect(await of({ tenantId: tenants[1] ?? '' })).toMatchObject({
    problems: [],
    closedDays: 2,
    counts: { transfers: 3 },
  });
  expect((await of({ tenantId: tenants[0] ?? '' })).problems).not.toEqual([]);
  expect(await of({ from: dayAgo(3) })).toMatchObject({ closedDays: 2 });
});

test('a balance is read from indexes: the last closings and the later postings', async () => {
  const { tenants } = await makeBooks();
  await closeDays();
  await database.db.command({ profile: 2 });
  const balance = await readBalance(database, tenants[0] ?? '');
  await database.db.command({ profile: 0 });
  expect(balance.availableMinor).toBe(3n * (CREDIT - 251_000n));
  const read = await database.db
    .collection('system.profile')
    .find({ ns: /\.(postings|ledger_)/ })
    .toArray();
  expect(read.map(({ ns, planSummary }) => [String(ns).split('.')[1], planSummary])).toEqual([
    ['ledger_days', 'IXSCAN { tenant_id: 1, day: 1 }'],
    ['ledger_closings', 'DISTINCT_SCAN { tenant_id: 1, account: 1, day: -1 }'],
    ['postings', 'IXSCAN { tenant_id: 1, at: 1, _id: 1 }'],
  ]);
  // The postings of closed days are not read.
  expect(read.at(-1)?.['docsExamined']).toBe(3);
});
