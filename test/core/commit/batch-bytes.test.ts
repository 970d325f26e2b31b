import { BSON, MongoClient, type Db } from 'mongodb';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { createDeliveries, toOutgoing } from '../../../src/core/webhooks/deliveries.js';
import { noOutbox, type Outbox } from '../../../src/core/webhooks/outbox.js';
import { newId } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { commitNamed } from '../../support/mutations.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** A client that sums the bytes of the documents and updates of each transaction. */
function watchedClient() {
  const options = { monitorCommands: true, useBigInt64: true, ignoreUndefined: true };
  const client = new MongoClient(database.uri, options);
  const written = new Map<string, number>();
  client.on('commandStarted', ({ command }) => {
    const { txnNumber, lsid, documents = [], updates = [] } = command;
    if (txnNumber === undefined) return;
    const id = `${lsid.id.toString('hex')}/${txnNumber}`;
    const bytes = [...documents, ...updates].reduce(
      (sum: number, each: object) => sum + BSON.calculateObjectSize(each),
      0,
    );
    written.set(id, (written.get(id) ?? 0) + bytes);
  });
  return { client, written };
}

/** An outbox whose tenants have ten endpoints each. */
function outboxOfTenEndpoints(db: Db): Outbox {
  const deliveries = createDeliveries({ db });
  const endpoints = Array.from({ length: 10 }, () => ({ id: newId('webhookEndpoint') }));
  return {
    ...noOutbox,
    hasSubscribers: async () => true,
    address: async (drafts) => drafts.map((draft) => toOutgoing(draft, endpoints, new Date())),
    write: (outgoing, session) => deliveries.insert(outgoing, session),
  };
}

test('no transaction writes much more than 1 MB, also when records, events and deliveries are as large as they can be', async () => {
  const tenantId = newId('tenant');
  const plain = createGroupCommit(database);
  const amountMinor = 1_000_000_000n;
  await creditWallet(plain, { tenantId, amountMinor, reference: 'start' });
  const metadata = Object.fromEntries(
    Array.from({ length: 16 }, (_, i) => [`k${i}`, 'x'.repeat(500)]),
  );
  const accepted = Array.from({ length: 250 }, () =>
    pendingTransfer({ tenant_id: tenantId, metadata }),
  );
  await Promise.all(accepted.map((one) => commitNamed(plain, acceptTransferMutation(one))));

  const { client, written } = watchedClient();
  const db = client.db(database.name);
  const watched = createGroupCommit({ client, db }, outboxOfTenEndpoints(db));
  const fact = { ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: 's' } as const;
  await Promise.all(
    accepted.map(({ _id: id }) =>
      commitNamed(watched, { kind: 'applyTransferFact', tenantId, id, fact }),
    ),
  );
  await client.close();
  const sizes = [...written.values()];
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(3_000_000);
  expect(Math.max(...sizes)).toBeLessThan(1_200_000);
  const completed = { tenant_id: tenantId, status: 'completed' };
  expect(await database.db.collection('transfers').countDocuments(completed)).toBe(250);
});
