import { acceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';
import { createPlainTransactions } from '../../bench/plain-transaction.js';
import { createMutationMaker } from '../../bench/transfers.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import type { AcceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import { createGroupCommit, type GroupCommit } from '../../src/core/commit/group-commit.js';
import { createTenants } from '../../src/platform/tenants/store.js';
import { claimOf } from '../support/transfers.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

const BALANCE_MINOR = 10_000_000n;

let database: TestDatabase;
let groupCommit: GroupCommit;
const makeMutation = createMutationMaker('sandbox-bank');

beforeAll(async () => {
  database = await openTestDatabase();
  groupCommit = createGroupCommit(database);
});
afterAll(() => database.close());

async function inputOfNewTenant(): Promise<AcceptTransfer> {
  const tenants = createTenants({ db: database.db, environment: 'sandbox' });
  const tenant = await tenants.create({ name: randomUUID(), plan: 'sandbox' });
  const credit = { tenantId: tenant.id, amountMinor: BALANCE_MINOR, reference: 'first' };
  await creditWallet(groupCommit, credit);
  return makeMutation(tenant);
}

/** Everything that an acceptance writes. Values that distinguish two transfers are replaced by placeholders. */
async function written({ tenantId, transfer, claim }: AcceptTransfer): Promise<unknown> {
  const { db } = database;
  const ofTenant = { tenant_id: tenantId, _id: { $ne: `credit/${tenantId}/first` } } as Document;
  const documents = {
    wallet: await db.collection('wallets').findOne({ _id: tenantId as never }),
    transfers: await db.collection('transfers').find(ofTenant).toArray(),
    postings: await db.collection('postings').find(ofTenant).toArray(),
    keys: await db.collection('idempotency_keys').find(ofTenant).toArray(),
  };
  const text = JSON.stringify(documents, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  const names = {
    tenant: tenantId,
    id: transfer._id,
    reference: transfer.reference,
    key: claim?.id ?? '',
  };
  const plain = Object.entries(names)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .reduce((rest, [name, value]) => rest.replaceAll(value, `<${name}>`), text);
  return JSON.parse(
    plain
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/E-\d+|0123456\d{3}/g, '<number>')
      .replaceAll(/"fingerprint":"[^"]+"/g, '"fingerprint":"<hash>"'),
  );
}

describe('the plain transaction that benchmarks compare with', () => {
  it('the plain transaction of the benchmarks writes exactly the documents of a group commit', async () => {
    const [ours, plain] = [await inputOfNewTenant(), await inputOfNewTenant()];
    await groupCommit.commit(acceptTransfer, ours);
    await createPlainTransactions(database.client, database.name)(plain);
    expect(await written(plain)).toEqual(await written(ours));
  });

  it('the plain transaction of the benchmarks accepts a key, a reference and a balance only once', async () => {
    const accept = createPlainTransactions(database.client, database.name);
    const input = await inputOfNewTenant();
    await accept(input);
    const before = await written(input);
    await expect(accept(input)).rejects.toThrow('key is taken');
    const other = { ...input, claim: claimOf(randomUUID()) };
    await expect(accept(other)).rejects.toThrow('reference is taken');
    const total_minor = BALANCE_MINOR + 1n;
    const dear = {
      ...other,
      transfer: { ...input.transfer, reference: randomUUID(), total_minor },
    };
    await expect(accept(dear)).rejects.toThrow('insufficient balance');
    expect(await written(input)).toEqual(before);
  });
});
