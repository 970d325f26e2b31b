import fc from 'fast-check';
import { MongoClient, type Document } from 'mongodb';
import { createAuthorizationStore } from '../../../src/capabilities/card-authorizations/store.js';
import { createFindOwner } from '../../../src/capabilities/cards/provider-events.js';
import { createCardStore } from '../../../src/capabilities/cards/store.js';
import { cards, type Card } from '../../../src/capabilities/cards/record.js';
import { transfers } from '../../../src/capabilities/transfers/record.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { createGroupCommit, type GroupCommit } from '../../../src/core/commit/group-commit.js';
import type { Mutation, MutationInput } from '../../../src/core/commit/mutation.js';
import { newId } from '../../../src/shared/ids.js';
import { anyMutation, anyRefusal } from '../../support/any-mutations.js';
import {
  authorizationFactMutation,
  TERMS,
  decideAuthorizationMutation,
  request,
} from '../../support/authorizations.js';
import { openCard } from '../../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { commitNamed } from '../../support/mutations.js';
import { acceptTransferMutation, claimOf, pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;
let client: MongoClient;
/** The commands of transactions on the database of this file, by transaction. */
let transactions: Map<string, Document[]>;
/** Commits through the watched client. */
let commit: GroupCommit;

beforeAll(async () => {
  database = await openTestDatabase();
  transactions = new Map();
  const options = { monitorCommands: true, useBigInt64: true, ignoreUndefined: true };
  client = new MongoClient(database.uri, options);
  client.on('commandStarted', ({ command }) => {
    const { txnNumber, lsid } = command;
    if (txnNumber === undefined) return;
    const id = `${lsid.id.toString('hex')}/${txnNumber}`;
    transactions.set(id, [...(transactions.get(id) ?? []), command]);
  });
  commit = createGroupCommit({ client, db: client.db(database.name) });
});
afterAll(async () => {
  await client.close();
  await database.close();
});

/** The collection and the filters of a command that has filters. */
function filtersOf({ find, filter, update, updates = [] }: Document): [string, Document[]] {
  if (find !== undefined) return [find, [filter]];
  return [update, (updates as { q: Document }[]).map(({ q }) => q)];
}
const filters = () =>
  [...transactions.values()].flat().flatMap((command) => {
    const [of, found] = filtersOf(command);
    return found.map((filter) => ({ of, filter }));
  });

/** The documents whose `_id` is their tenant, or begins with it. */
const NAMED_BY_TENANT = new Set(['wallets', 'transfer_monthly_counts']);
const hasTenant = ({ of, filter }: { of: string; filter: Document }) =>
  NAMED_BY_TENANT.has(of)
    ? filter['_id'] !== undefined
    : (filter['$or'] ?? [filter]).every((each: Document) => each['tenant_id'] !== undefined);

test('every read and every update in the transaction of a commit names its tenant', async () => {
  const mutations = fc.sample(fc.oneof(anyMutation, anyRefusal), 400);
  await Promise.allSettled(mutations.map((one) => commitNamed(commit, one)));
  const found = filters();
  const read = new Set(found.map(({ of }) => of));
  expect([...read]).toEqual(
    expect.arrayContaining(['transfers', 'idempotency_keys', 'postings', 'wallets']),
  );
  expect(found.filter((each) => !hasTenant(each))).toEqual([]);
});

/** Names a record, a key and a posting, and returns what the decision sees of them. */
const look: Mutation<
  MutationInput & { record: string; key: string; posting: string },
  { record: unknown; key: unknown; posting: unknown }
> = {
  reads: ({ record, key, posting }) => ({
    records: [transfers.ref(record)],
    keys: [key],
    postings: [posting],
  }),
  decide: (uow, { record, key, posting }) => ({
    record: uow.get(transfers, record)?._id,
    key: uow.key(key)?.id,
    posting: uow.posting(posting)?.id,
  }),
};

test('a commit does not find a record, a key or a posting of another tenant', async () => {
  const [ada, bob] = [newId('tenant'), newId('tenant')];
  await creditWallet(commit, { tenantId: ada, amountMinor: 1_000_000n, reference: 'start' });
  const transfer = pendingTransfer({ tenant_id: ada });
  const claim = claimOf(`${ada}/secret/k`);
  await commitNamed(commit, acceptTransferMutation(transfer, { claim }));
  const names = { record: transfer._id, key: claim.id, posting: `credit/${ada}/start` };
  expect(await commit.commit(look, { ...names, tenantId: ada })).toEqual(names);
  expect(await commit.commit(look, { ...names, tenantId: bob })).toEqual({});
});

test("an issuer's token of another tenant's card is declined, and moves nothing", async () => {
  const [ada, bob] = ['ten_a', newId('tenant')];
  const records = database.db.collection<Card>(cards.name);
  const theirs = openCard({
    _id: 'crd_b',
    tenant_id: bob,
    issued: null,
    available_minor: 100_000n,
  });
  await records.insertMany([openCard({ available_minor: 100_000n }), theirs]);
  const store = createAuthorizationStore(database, commit, { stallTimeoutMs: 1_000, terms: TERMS });
  const { kind: _, ...first } = decideAuthorizationMutation();
  const answerBy = new Date(Date.now() + 60_000);
  expect(await store.decide({ ...first, tenantId: ada, answerBy })).toMatchObject({
    approved: true,
  });
  const { kind: __, ...cleared } = authorizationFactMutation('cleared', { minor: 5_000n });
  const mixedUp = { tenantId: bob, card: theirs._id };
  const second = { ...first, ...mixedUp, request: request(), answerBy };
  expect(await store.decide(second)).toBeNull();
  expect(await store.commitFact({ ...cleared, ...mixedUp })).toEqual({
    verdict: 'unknown_card',
    authorization: null,
  });
  expect(await records.findOne({ _id: theirs._id })).toMatchObject({
    available_minor: 100_000n,
    held_minor: 0n,
  });
});

test("an issuer's id that cards of two tenants have stands for neither of them", async () => {
  const issued = { ...openCard().issued, issuer_card_id: 'card_twice' } as Card['issued'];
  const [one, other] = [newId('card'), newId('card')].map((_id) =>
    openCard({ _id, tenant_id: newId('tenant'), issued }),
  ) as [Card, Card];
  const store = createCardStore(database);
  const owner = () =>
    createFindOwner(database)('sandbox-bank', {
      subject: 'card',
      reference: null,
      issuer_card: 'card_twice',
      state: { kind: 'pending' },
    });
  const records = database.db.collection<Card>(cards.name);
  await records.insertOne(one);
  expect(await store.findIssued('sandbox-bank', 'card_twice')).toMatchObject({ _id: one._id });
  expect(await owner()).toEqual({ tenantId: one.tenant_id, card: one._id });
  await records.insertOne(other);
  expect(await store.findIssued('sandbox-bank', 'card_twice')).toBeNull();
  expect(await owner()).toBeNull();
  const again = { ...one, _id: newId('card') };
  await expect(records.insertOne(again)).rejects.toThrow('duplicate key');
});

describe('behind a mongos', () => {
  /** The tenants that the commands of a transaction name. */
  function tenantsOf(commands: readonly Document[]): string[] {
    const found = commands.flatMap((command) => [
      ...filtersOf(command)[1].flatMap((filter) => ids(filter['tenant_id'] ?? filter['_id'])),
      ...((command['documents'] ?? []) as Document[]).map((one) => one['tenant_id']),
    ]);
    return [...new Set(found.map((text) => String(text).slice(0, newId('tenant').length)))];
  }
  const ids = (value: string | { $in: string[] }) =>
    typeof value === 'string' ? [value] : value.$in;

  test('each transaction is about one tenant, and each mutation gets its own result', async () => {
    const db = client.db(database.name);
    const routed = createGroupCommit({ client, db, isMongos: true });
    const tenants = Array.from({ length: 12 }, () => newId('tenant'));
    const credits = tenants.flatMap((tenantId, i) =>
      ['a', 'b'].map((reference) => ({ tenantId, reference, amountMinor: BigInt(i + 1) })),
    );
    transactions.clear();
    await Promise.all(credits.map((credit) => creditWallet(routed, credit)));
    const named = [...transactions.values()].map(tenantsOf);
    expect(named.filter((each) => each.length !== 1)).toEqual([]);
    expect(named.flat().toSorted()).toEqual(tenants.toSorted());

    const accepted = tenants.map((tenantId, i) =>
      pendingTransfer({ tenant_id: tenantId, amount_minor: 1n, fee_minor: i < 6 ? 0n : 100n }),
    );
    const results = await Promise.all(
      accepted.map((one) => commitNamed(routed, acceptTransferMutation(one))),
    );
    expect(results.map((result) => 'resource' in result && result.resource)).toEqual(
      accepted.map(({ _id }, i) => (i < 6 ? _id : null)),
    );
  });
});
