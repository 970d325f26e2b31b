import { MongoClient } from 'mongodb';
import type { Card } from '../../../src/capabilities/cards/record.js';
import {
  newAuthorization,
  type CardAuthorization,
} from '../../../src/capabilities/card-authorizations/record.js';
import { deposits, type Deposit } from '../../../src/capabilities/deposits/record.js';
import { acceptTransfer } from '../../../src/capabilities/transfers/mutations.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { createTransfers } from '../../../src/capabilities/transfers/store.js';
import {
  accountCustomers,
  newVirtualAccount,
  virtualAccounts,
  type AccountCustomer,
  type VirtualAccount,
} from '../../../src/capabilities/virtual-accounts/record.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { audits } from '../../../src/composition/capabilities.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { auditLedger, newAudit, type AuditState } from '../../../src/core/ledger/audit.js';
import type { PostingDocument } from '../../../src/core/ledger/collections.js';
import { accounts } from '../../../src/core/ledger/posting.js';
import { newId } from '../../../src/shared/ids.js';
import { openCard } from '../../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../../support/transfers.js';

const TENANT = 'ten_many';
const AT = new Date('2026-11-21T09:00:00.000Z');
const DAY = 86_400_000;
const NAME = 'transfer_monthly_counts';

let database: TestDatabase;
let watched: MongoClient;
/** Documents that the watched client has received. */
let received = 0;

beforeEach(async () => {
  database = await openTestDatabase();
  watched = new MongoClient(database.uri, { monitorCommands: true, useBigInt64: true });
  watched.on('commandSucceeded', ({ reply }) => {
    const { cursor } = reply as { cursor?: { firstBatch?: unknown[]; nextBatch?: unknown[] } };
    received += (cursor?.firstBatch ?? cursor?.nextBatch ?? []).length;
  });
});
afterEach(async () => {
  await watched.close();
  await database.close();
});

/** Completes a transfer of the tenant, as its books need one. */
async function paid(createdAt = AT): Promise<Transfer> {
  const transfer = pendingTransfer({ tenant_id: TENANT, created_at: createdAt });
  const { total_minor: amountMinor, _id: id } = transfer;
  const groupCommit = createGroupCommit(database);
  await creditWallet(groupCommit, { tenantId: TENANT, amountMinor, reference: id });
  await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
  const success = { kind: 'succeeded', amountMinor: null, sessionId: 's' } as const;
  const transfers = createTransfers(database, groupCommit, 1_000);
  await transfers.applyFact(TENANT, id, { ...byProvider, ...success });
  return transfer;
}

const account = (): VirtualAccount => ({
  ...newVirtualAccount(
    {
      tenantId: TENANT,
      provider: 'bank',
      customer: { id: 'customer-1', email: null, name: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    AT,
  ),
  state: 'active',
});

/** A deposit of 100 kobo on this account. */
const deposit = (accountId: string) =>
  ({
    _id: newId('virtualAccount').replace('va_', 'dep_'),
    tenant_id: TENANT,
    version: 1,
    status: 'completed',
    state: 'credited',
    reference: newId('virtualAccount'),
    fee_minor: 0n,
    amount_minor: 100n,
    virtual_account_id: accountId,
    created_at: AT,
  }) as unknown as Deposit;

/**
 * The problems of the audit before it reads records one by one, and the documents that it has received until then, in all and in
 * one step at most.
 */
async function auditSums(): Promise<{ problems: string[]; documents: number; most: number }> {
  const state = newAudit();
  const ended = new Error('the sums are audited');
  received = 0;
  let [before, most] = [0, 0];
  const db = watched.db(database.name);
  await auditLedger({ client: watched, db }, audits, {
    state,
    onState: async ({ position }) => {
      most = Math.max(most, received - before);
      before = received;
      if (position.step === 'records') throw ended;
    },
  }).catch((error: unknown) => {
    if (error !== ended) throw error;
  });
  return { problems: state.problems, documents: received, most };
}

test('the audit of a tenant’s sums receives as many documents from a tenant with many records as from one with few', async () => {
  const transfer = await paid();
  const { _id: accountId, ...rest } = account();
  const collection = <T extends object>(name: string) => database.db.collection<T>(name);
  await collection<VirtualAccount>(virtualAccounts.name).insertOne({ _id: accountId, ...rest });
  const add = async (count: number) => {
    const each = Array.from({ length: count });
    await collection<Deposit>(deposits.name).insertMany(each.map(() => deposit(accountId)));
    await collection<Transfer>('transfers').insertMany(
      each.map(() => {
        const id = newId('transfer');
        const { tenant_id, created_at } = transfer;
        const of = { _id: id, tenant_id, created_at, next_check_at: null };
        return pendingTransfer({ ...of, status: 'completed' });
      }),
    );
  };
  await add(5);
  const few = await auditSums();
  await add(200);
  const many = await auditSums();
  expect(few.documents).toBeGreaterThan(0);
  expect(many.documents).toBe(few.documents);
  expect(many.problems).toContain(`${accountId} has received 0, its deposits are 20500`);
  expect(many.problems).toContain(
    `${NAME}: ${TENANT}/2026-11-21 counts 1 created, the records are 206 created`,
  );
});

/** Adds cards of the tenant with one kobo each, and the postings of that. */
async function addCards(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('card'));
  const cards = ids.map((_id) =>
    openCard({ _id, tenant_id: TENANT, status: 'pending', issued: null, available_minor: 1n }),
  );
  await database.db.collection<Card>('cards').insertMany(cards);
  await database.db
    .collection<PostingDocument>('postings')
    .insertMany(ids.map((id) => cardPosting(id, 1n)));
  return ids;
}

const cardPosting = (card: string, minor: bigint): PostingDocument => ({
  _id: `${newId('cardOperation')}/resolve`,
  tenant_id: TENANT,
  at: AT,
  legs: [
    { account: accounts.cardAvailable(card), amount_minor: minor },
    { account: accounts.external, amount_minor: -minor },
  ],
});

test('the audit of cards receives as many documents at once from a tenant with many cards as from one with few', async () => {
  await paid();
  await addCards(1_100);
  const few = await auditSums();
  await addCards(1_100);
  const many = await auditSums();
  expect(few.problems).toEqual([]);
  expect(many).toMatchObject({ problems: [], most: few.most });
});

test('cards that differ from their accounts or their open records are found in every portion, and accounts without a card', async () => {
  await paid();
  const ids = (await addCards(2_100)).toSorted();
  const [first = '', second = '', last = ''] = [ids[0], ids[1_050], ids.at(-1)];
  const cards = database.db.collection<Card>('cards');
  await cards.updateOne({ _id: first }, { $set: { available_minor: 3n } });
  await cards.updateOne({ _id: second }, { $set: { held_minor: 5n } });
  await cards.updateOne({ _id: last }, { $set: { open_holds: 1 } });
  const [before, after] = ['crd_00000000000000000000000000', newId('card')];
  const postings = database.db.collection<PostingDocument>('postings');
  await postings.insertMany([cardPosting(before, 2n), cardPosting(after, 2n)]);
  await database.db
    .collection<CardAuthorization>('card_authorizations')
    .insertOne(authorizationOn(second));
  expect((await auditSums()).problems).toEqual([
    `card:${first}:available: the card says 3, its postings 1`,
    `card:${before}:available has no card`,
    `card:${second}:held: the card says 5, its postings 0`,
    `${second} counts 0 holds, its authorizations 1`,
    `card:${second}:held is at 0, open records hold 5`,
    `${last} counts 1 holds, its authorizations 0`,
    `card:${after}:available has no card`,
  ]);
});

/** An authorization that holds 5 kobo on a card. */
const authorizationOn = (card: string): CardAuthorization => ({
  ...newAuthorization(
    { tenantId: TENANT, id: newId('authorization'), card, provider: 'sandbox-bank', token: 'one' },
    null,
    AT,
  ),
  held_minor: 5n,
});

test('a count that differs is found on any day, also without a record or a count of that day', async () => {
  const days = [0, 1, 12, 40, 400].map((day) => new Date(AT.getTime() - day * DAY));
  for (const day of days) await paid(day);
  expect((await auditSums()).problems).toEqual([]);
  const counts = database.db.collection<{ _id: string }>('transfer_monthly_counts');
  const [first = AT, , , fourth = AT] = days;
  const idOf = (day: Date) => `${TENANT}/${day.toISOString().slice(0, 7)}`;
  await counts.deleteOne({ _id: idOf(fourth) });
  await counts.updateOne(
    { _id: idOf(first) },
    { $set: { 'days.30': { created: 1n, failed: 1n } } },
  );
  const day = fourth.toISOString().slice(0, 10);
  expect((await auditSums()).problems).toEqual([
    `${NAME}: ${TENANT}/${day} counts 0 created, the records are 1 created`,
    `${NAME}: ${TENANT}/2026-11-30 counts 1 created and 1 failed, the records are 0 created and 0 failed`,
    `${NAME}: ${TENANT}/2026-11 counts 3 created and 0 failed, its days 4 created and 1 failed`,
  ]);
});

test('a customer that counts another number of open accounts than it has is found', async () => {
  await paid();
  const all = [account(), account(), { ...account(), state: 'closed' as const }];
  await database.db.collection<VirtualAccount>(virtualAccounts.name).insertMany(all);
  const customers = database.db.collection<AccountCustomer>(accountCustomers.name);
  const _id = `${TENANT}/customer-1`;
  await customers.insertOne({ _id, tenant_id: TENANT, open: 3, version: 1 });
  const said = `a customer of ${TENANT} counts 3 open accounts, not 2`;
  expect((await auditSums()).problems).toContain(said);
  await customers.updateOne({ _id }, { $set: { open: 2 } });
  expect((await auditSums()).problems).not.toContain(said);
});

test('an audit of sums that ended early goes on at its position', async () => {
  await paid();
  await paid(new Date(AT.getTime() - 40 * DAY));
  const counts = database.db.collection('transfer_monthly_counts');
  await counts.updateMany({}, { $inc: { created: 1n } });
  const state = newAudit();
  const places: string[] = [];
  for (let attempt = 0; state.position.step !== 'records' && attempt < 100; attempt += 1) {
    // Each attempt dies after one step.
    await auditLedger(database, audits, {
      state,
      onState: async ({ position }) => {
        if (position.step === 'portions') places.push(JSON.stringify(position));
        throw new Error('the process has died');
      },
    }).catch(() => undefined);
  }
  expect(state.position.step).toBe('records');
  expect(new Set(places).size).toBe(places.length);
  expect(state.problems.filter((problem) => problem.includes('created, its days'))).toHaveLength(2);
});

test('an audit of sums of a release with other portions repeats those of the tenant', async () => {
  await paid();
  const [card = ''] = await addCards(1);
  await database.db
    .collection<Card>('cards')
    .updateOne({ _id: card }, { $set: { available_minor: 3n } });
  const names = audits.flatMap(({ portions = {} }) => Object.keys(portions));
  for (const position of [
    { step: 'portions', tenant: '', audit: 1, after: '2026-11-30' },
    { step: 'portions', tenant: '', audit: 4, after: '2026-11-30' },
    { step: 'portions', tenant: '', done: [names[0]], at: { audit: 'gone', after: '2026-11-30' } },
  ]) {
    const state: AuditState = { ...newAudit(), position: position as AuditState['position'] };
    await auditLedger(database, audits, { state });
    expect(state.problems).toContain(`card:${card}:available: the card says 3, its postings 1`);
  }
  expect(new Set(names).size).toBe(names.length);
});
