import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Int32, MongoServerError } from 'mongodb';
import { createMongoClient } from '../../../src/platform/database/client.js';
import {
  collectionsMigration,
  migrate,
  wantedOf,
  type CollectionSpec,
  type Migration,
} from '../../../src/platform/database/migrations.js';
import { examineExpiries } from '../../../src/ops/doctor/mongodb.js';
import { inspectSchema, undeclaredExpiries } from '../../../src/platform/database/inspect.js';
import { LIST_INDEXES } from '../../../src/capabilities/deposits/record.js';
import { migrations } from '../../../src/composition/migrations.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await openTestDatabase([]);
});
afterEach(() => database.close());

/** A migration that counts its runs in the database, where every process sees the count. */
function counting(id: string): Migration {
  return {
    id,
    async up(db) {
      await db.collection('runs').insertOne({ id });
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
  };
}

async function runs(): Promise<string[]> {
  const found = await database.db.collection('runs').find().sort({ _id: 1 }).toArray();
  return found.map((run) => String(run['id']));
}

const walletSpec: CollectionSpec = {
  name: 'money',
  validator: {
    bsonType: 'object',
    required: ['amount_minor'],
    properties: { amount_minor: { bsonType: 'long' } },
  },
  indexes: [{ key: { owner: 1 }, unique: true }],
};

test('each migration runs once and in order, even if many processes start at the same time', async () => {
  const list = [counting('1'), counting('2'), counting('3')];
  const clients = Array.from({ length: 6 }, () => createMongoClient(database.uri, 'starter'));
  await Promise.all(clients.map((client) => migrate(client.db(database.name), list)));
  expect(await runs()).toEqual(['1', '2', '3']);
  await Promise.all(clients.map((client) => client.close()));
});

test('no process returns from migrating before the whole list is applied', async () => {
  const list = [counting('1'), counting('2')];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      await migrate(database.db, list);
      expect(await runs()).toEqual(['1', '2']);
    }),
  );
});

test('a later start runs only new migrations', async () => {
  await migrate(database.db, [counting('1')]);
  await migrate(database.db, [counting('1'), counting('2')]);
  expect(await runs()).toEqual(['1', '2']);
});

test('a failed migration is not recorded, and the next start runs it again', async () => {
  let attempts = 0;
  const fragile: Migration = {
    id: 'fragile',
    async up() {
      attempts += 1;
      if (attempts === 1) throw new Error('no luck');
    },
  };
  await expect(migrate(database.db, [fragile])).rejects.toThrow('no luck');
  await migrate(database.db, [fragile]);
  await migrate(database.db, [fragile]);
  expect(attempts).toBe(2);
});

test('the migration lock of a process that died is taken over once it has expired', async () => {
  const locks = database.db.collection<{ _id: string; owner: string; expires_at: Date }>(
    'migration_lock',
  );
  const soon = new Date(Date.now() + 1_000);
  await locks.insertOne({ _id: 'lock', owner: randomUUID(), expires_at: soon });
  await migrate(database.db, [counting('1')]);
  expect(await runs()).toEqual(['1']);
  expect(Date.now()).toBeGreaterThan(soon.getTime());
});

test('migrations give new and existing collections their validator and indexes', async () => {
  await database.db.createCollection('money');
  await migrate(database.db, [collectionsMigration('money', [walletSpec])]);
  await collectionsMigration('money', [walletSpec]).up(database.db);
  const money = database.db.collection<{ owner: string; amount_minor: unknown }>('money');
  await money.insertOne({ owner: 'a', amount_minor: 5n });
  await expect(money.insertOne({ owner: 'b', amount_minor: 5 })).rejects.toThrow(MongoServerError);
  await expect(money.insertOne({ owner: 'a', amount_minor: 6n })).rejects.toThrow('E11000');
});

test('the migrations apply to an empty database, and again to their own result', async () => {
  await migrate(database.db, migrations);
  for (const migration of migrations) await migration.up(database.db);
  const collections = await database.db.listCollections().toArray();
  const names = collections.map((collection) => collection.name);
  expect(names).toEqual(expect.arrayContaining(['tenants', 'api_keys', 'rate_limits']));
  const indexes = await database.db.collection('rate_limits').indexes();
  expect(indexes).toContainEqual(
    expect.objectContaining({ key: { expires_at: 1 }, expireAfterSeconds: 0 }),
  );
});

test('an inspection finds no problem in a migrated database, and reports every later change', async () => {
  const { db } = database;
  await migrate(db, migrations);
  expect(await inspectSchema(db, migrations)).toEqual([]);

  await db.collection('transfers').dropIndex('tenant_id_1_reference_1');
  await db.command({ collMod: 'wallets', validationLevel: 'off' });
  await db.collection('webhook_endpoints').drop();
  await db.collection<{ _id: string }>('migrations').deleteOne({ _id: '0001-initial' });
  const migration = '0001-initial';
  expect(await inspectSchema(db, migrations)).toEqual([
    { description: 'is not applied', migration },
    { description: 'wallets has another validator', migration },
    { description: 'webhook_endpoints is missing', migration: '0009-endpoint-filters' },
    { description: 'transfers lacks its index on tenant_id, reference', migration },
  ]);
});

test('each index by which MongoDB would remove documents, and that no migration declares, is found', async () => {
  const { db } = database;
  await migrate(db, migrations);
  expect(await undeclaredExpiries(db, migrations)).toEqual([]);

  await db.collection('audit_log').createIndex({ at: 1 }, { expireAfterSeconds: 86_400_000 });
  const index = { keyPattern: { next_check_at: 1 }, expireAfterSeconds: 86_400_000 };
  await db.command({ collMod: 'transfers', index });
  const shorter = { keyPattern: { expires_at: 1 }, expireAfterSeconds: 1 };
  await db.command({ collMod: 'rate_limits', index: shorter });
  expect(await undeclaredExpiries(db, migrations)).toEqual([
    'audit_log (at_1)',
    'rate_limits (expires_at_1)',
    'transfers (next_check_at_1)',
  ]);
  expect(await examineExpiries(db)).toMatchObject({ ok: false });

  // A newer release may have declared them.
  await db.collection<{ _id: string }>('migrations').insertOne({ _id: '9999-newer' });
  const newer = await examineExpiries(db);
  expect(newer).toMatchObject({ ok: true, detail: expect.stringContaining('audit_log (at_1)') });
});

test('a collection of MongoDB itself that is bounded, such as that of its profiler, is no alarm', async () => {
  const { db } = database;
  await migrate(db, migrations);
  await db.command({ profile: 2 });
  await db.collection('transfers').findOne({});
  await db.command({ profile: 0 });
  expect(await db.listCollections({ name: 'system.profile' }).toArray()).toHaveLength(1);
  expect(await undeclaredExpiries(db, migrations)).toEqual([]);
});

test('a database without disputes of card payments gets them by the upgrade', async () => {
  const { db } = database;
  const step = '0005-card-disputes';
  await migrate(
    db,
    migrations.filter(({ id }) => id !== step),
  );
  // As the version before disputes has left it.
  await db.collection('card_disputes').drop();
  const types = { properties: { type: { enum: ['fund', 'issue'] } } };
  await db.command({ collMod: 'card_operations', validator: { $jsonSchema: types } });
  const amounts = { properties: { refunded_minor: { bsonType: 'long' } } };
  await db.command({ collMod: 'card_authorizations', validator: { $jsonSchema: amounts } });
  const operation = {
    tenant_id: 'ten_a',
    card_id: 'crd_a',
    type: 'dispute',
    status: 'pending',
    reference: 'ref',
    version: new Int32(1),
    submissions: new Int32(0),
  };
  await expect(db.collection('card_operations').insertOne({ ...operation })).rejects.toThrow(
    MongoServerError,
  );
  await migrate(db, migrations);
  expect(await inspectSchema(db, migrations)).toEqual([]);
  await db.collection('card_operations').insertOne({ ...operation });
});

test('a changed collection has a new migration, because a database that has recorded the old one skips it', () => {
  const file = new URL('recorded-schemas.json', import.meta.url);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  const wanted = wantedOf(migrations).map(([{ name, validator, indexes }, step]) => {
    const hash = createHash('sha256').update(JSON.stringify({ validator, indexes }));
    return [`${step} ${name}`, hash.digest('hex').slice(0, 16)] as const;
  });
  // A changed hash needs a new step in src/composition/migrations.ts. The line of the new step is added to the file.
  expect(recorded).toMatchObject(Object.fromEntries(wanted));
});

test('lists by account and status work in a database of the version before their index', async () => {
  const { db } = database;
  const step = '0006-deposits-by-account';
  await migrate(
    db,
    migrations.filter(({ id }) => id !== step),
  );
  const { byAccountState } = LIST_INDEXES;
  const name = Object.entries(byAccountState).flat().join('_');
  await db.collection('deposits').dropIndex(name);
  await migrate(db, migrations);
  expect(await inspectSchema(db, migrations)).toEqual([]);
  expect(await db.collection('deposits').find({}).hint(byAccountState).toArray()).toEqual([]);
});

test('a start creates missing unique indexes again, but does not change the database of a newer version', async () => {
  const { db } = database;
  await migrate(db, migrations);
  const lacks = async () =>
    (await inspectSchema(db, migrations)).map(({ description }) => description);
  await db.collection('transfers').dropIndex('tenant_id_1_reference_1');
  await migrate(db, migrations);
  expect(await lacks()).toEqual([]);

  await db.collection('transfers').dropIndex('tenant_id_1_reference_1');
  await migrate(db, [...migrations, counting('9999-newer')]);
  await db.collection('transfers').dropIndex('tenant_id_1_reference_1');
  await migrate(db, migrations);
  expect(await lacks()).toEqual(['transfers lacks its index on tenant_id, reference']);
});

test('a database of an earlier layout is refused and left as it is, with a message that says what to delete', async () => {
  const { db } = database;
  const records = db.collection<{ _id: string; applied_at: Date }>('migrations');
  const earlier = ['0001-tenants-keys-limits', '0002-ledger-transfers-callbacks'];
  await records.insertMany(earlier.map((_id) => ({ _id, applied_at: new Date() })));
  await expect(migrate(db, migrations)).rejects.toThrow('delete .bursar');
  const names = (await db.listCollections().toArray()).map(({ name }) => name);
  expect(names).toEqual(['migrations']);
});

test('a database of a newer version is not taken for one of an earlier layout', async () => {
  const { db } = database;
  await migrate(db, [...migrations, counting('9999-newer')]);
  await migrate(db, migrations);
  expect(await runs()).toEqual(['9999-newer']);
});

test('a start fails on duplicates that a unique index forbids, and names the index', async () => {
  const { db } = database;
  const all = [collectionsMigration('0001', [walletSpec])];
  await migrate(db, all);
  await db.collection('money').dropIndex('owner_1');
  const twice = { owner: 'ada', amount_minor: 1n };
  await db.collection('money').insertMany([{ ...twice }, { ...twice }]);
  await expect(migrate(db, all)).rejects.toThrow('owner_1');
});
