import type { Document } from 'mongodb';
import { createMongoClient } from '../../src/platform/database/client.js';
import { plant, PLANTED_RECIPIENT } from '../support/planted.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let receiver: Receiver;
/** The database as it is, without our keys. */
let raw: ReturnType<typeof createMongoClient>;

beforeAll(async () => {
  service = await startService({ env: { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' } });
  tenant = await service.tenant();
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  raw = createMongoClient(String(service.env.MONGODB_URI), 'bursar-test');
});
afterAll(async () => {
  await raw?.close();
  await service?.close();
  await receiver?.close();
});

const rawDatabase = () => raw.db(service.deps.database.db.databaseName);

/** The bytes of every document of every collection, by the collection's name. */
async function documents(): Promise<[string, Buffer][]> {
  const db = rawDatabase();
  const all: [string, Buffer][] = [];
  for (const { name } of await db.listCollections().toArray()) {
    const found = db.collection(name).find({}, { raw: true });
    for await (const bytes of found) all.push([name, bytes as unknown as Buffer]);
  }
  return all;
}

/** The bytes of the oplog's entries about this database: each write as it was made. */
async function oplog(): Promise<Buffer[]> {
  const { databaseName } = rawDatabase();
  const ours = { $or: [{ ns: { $regex: `^${databaseName}\\.` } }, { ns: 'admin.$cmd' }] };
  const found = raw.db('local').collection('oplog.rs').find(ours, { raw: true });
  return (await found.toArray()).map((bytes) => bytes as unknown as Buffer);
}

test('no byte of the database or its oplog has an authorization, an account number, an e-mail, a name or a saved answer', async () => {
  const planted = Object.entries(await plant(service, tenant));
  const answers = ['a saved answer', '"success":true'] as const;
  const stored = await documents();
  const names = new Set(stored.map(([name]) => name));
  for (const name of ['transfers', 'payment_tokens', 'charges', 'customers', 'deposits', 'cards']) {
    expect(names).toContain(name);
  }
  const found = [...planted, answers].flatMap(([what, value]) =>
    stored.filter(([, bytes]) => bytes.includes(value)).map(([name]) => `${what} in ${name}`),
  );
  expect([...new Set(found)]).toEqual([]);
  const written = await oplog();
  expect(written.length).toBeGreaterThan(20);
  const inOplog = planted.filter(([, value]) => written.some((bytes) => bytes.includes(value)));
  expect(inOplog.map(([what]) => what)).toEqual([]);
});

test('the service reads what is sealed, and answers a repeated request with the same bytes', async () => {
  const body = transferBody('789', { recipient_account: PLANTED_RECIPIENT });
  const first = await tenant.transfer(body, { key: 'a repeat' });
  const again = await tenant.transfer(body, { key: 'a repeat' });
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect(first.body.data.recipient_account).toBe(PLANTED_RECIPIENT);
});

test('a sealed value that was moved to another record is refused, and not used', async () => {
  const db = rawDatabase().collection<Document & { _id: string }>('payment_tokens');
  const one = await db.findOne({ account_number: { $type: 'string' } });
  const other = await db.findOne({ authorization: { $type: 'string' } });
  const _id = String(other?._id);
  await db.updateOne({ _id }, { $set: { account_number: one?.['account_number'] } });
  const { store } = service.deps.paymentTokens;
  await expect(store.get(tenant.id, _id)).rejects.toThrow('cannot be opened');
  await db.updateOne({ _id }, { $set: { account_number: null } });
});
