import { MongoClient, type Db } from 'mongodb';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import type { Deps } from '../../src/composition/deps.js';
import { compiled } from '../../src/shared/package-root.js';
import { bursar, bursarApproved, run } from '../support/cli.js';
import { securedMongod } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { operatorDeps } from '../support/operators.js';
import { chargeBody, paymentClient } from '../support/payments.js';
import { SERVICE_SECRETS, startService, type Service } from '../support/service.js';
import { createTenant } from '../support/tenant.js';

const DATABASE = `users_${process.pid}`;
const USERS = ['migrate', 'service', 'operator', 'read_only'] as const;
type User = (typeof USERS)[number];
const passwordOf = (user: string) => `the password of ${user}, with @ and /`;
const program = compiled('src', 'ops', 'cli', 'main.js');

let mongod: Awaited<ReturnType<typeof securedMongod>>;
let service: Service;
let operators: Deps;
let operatorEnv: Record<string, string>;
const clients = new Map<string, MongoClient>();

/** The same server for another user. */
const uriAs = (user: User) => {
  const signIn = [`${DATABASE}_${user}`, passwordOf(user)].map(encodeURIComponent).join(':');
  return mongod.adminUri.replace(/\/\/[^@]+@/, `//${signIn}@`);
};

/** The database, as one of the users or as the administrator. */
function dbAs(user: User | 'admin', name = DATABASE): Db {
  const uri = user === 'admin' ? mongod.adminUri : uriAs(user);
  const client = clients.get(user) ?? new MongoClient(uri);
  clients.set(user, client);
  return client.db(name);
}

const makeUsers = () =>
  run(process.execPath, [program, 'database-users', '--json'], {
    MONGODB_URI: mongod.adminUri,
    BURSAR_DATABASE: DATABASE,
    ...Object.fromEntries(
      USERS.map((user) => [`BURSAR_DATABASE_PASSWORD_${user.toUpperCase()}`, passwordOf(user)]),
    ),
  });
const migrateAs = (user: User) =>
  run(process.execPath, [program, 'migrate', '--json'], {
    ...SERVICE_SECRETS,
    MONGODB_URI: uriAs(user),
    BURSAR_DATABASE: DATABASE,
  });

beforeAll(async () => {
  mongod = await securedMongod();
  const made = await makeUsers();
  expect(JSON.parse(made.out)).toEqual({
    database: DATABASE,
    users: USERS.map((user) => `${DATABASE}_${user}`),
  });
  // API and worker cannot create the schema, and say what to do.
  const refused = await migrateAs('service');
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('run bursar migrate') });
  expect(await migrateAs('migrate')).toMatchObject({ code: 0 });
  // Both commands may be repeated, as an upgrade does.
  expect(await makeUsers()).toMatchObject({ code: 0 });
  expect(await migrateAs('migrate')).toMatchObject({ code: 0 });
  service = await startService({
    mongodbUri: uriAs('service'),
    env: { BURSAR_DATABASE: DATABASE },
  });
  operatorEnv = { ...service.env, MONGODB_URI: uriAs('operator') };
  operators = await operatorDeps(operatorEnv);
});
afterAll(async () => {
  await service?.close();
  await dbAs('admin').dropDatabase();
  await Promise.all([...clients.values()].map((client) => client.close()));
  await mongod?.remove();
});

describe('each user of MongoDB does its work', () => {
  test('API, worker and operators carry out and repair transfers, and nothing is refused to them', async () => {
    const tenant = await createTenant(operators, { apiUrl: service.api.url });
    await tenant.waitFor(await tenant.send(), 'completed');

    const stuck = await tenant.send('006');
    await eventually('the bank has it', async () =>
      (await tenant.stored(stuck)).timeline.some(({ type }) => type === 'provider_answer')
        ? true
        : undefined,
    );
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.decideTransfer(stuck, 'paid');
    const { client } = service.deps.temporal;
    await client.workflow.getHandle(transferWorkflowId(stuck)).signal('verify', { actor: 'ada' });
    await tenant.waitFor(stuck, 'completed');
    await service.bank.faults([]);

    const forced = await tenant.send('006');
    const fail = `transfers fail ${forced} --force --reason it-has-to-end`;
    expect(await bursarApproved(fail, operatorEnv)).toMatchObject({ code: 0 });
    expect(await tenant.get(forced)).toMatchObject({ status: 'failed' });
    expect(service.logs()).not.toMatch(/not authorized/i);
  });

  test('operators erase a customer, and the saved responses that show its records', async () => {
    const tenant = await createTenant(operators, { apiUrl: service.api.url });
    const payments = paymentClient(tenant);
    const { body } = await payments.charge(chargeBody());
    const { reference, customer_id: customer } = body.data;
    await payments.call('POST', `/payments/charges/${reference}/cancel`, {});
    await payments.waitFor(reference, 'failed');
    const db = dbAs('admin');
    const aDayAgo = new Date(Date.now() - 26 * 60 * 60 * 1000);
    await db
      .collection('charges')
      .updateMany({ tenant_id: tenant.id }, { $set: { updated_at: aDayAgo } });
    const verify = `/payments/charges/${reference}/verify`;
    expect((await payments.call('POST', verify, {}, { key: 'asked' })).status).toBe(200);
    const shows = () =>
      db
        .collection('idempotency_keys')
        .countDocuments({ tenant_id: tenant.id, resource_id: { $ne: null } });
    expect(await shows()).toBeGreaterThan(0);
    const erase = `customers erase --tenant ${tenant.id} --customer ${customer} --reason asked-for`;
    expect(await bursar(erase, operatorEnv)).toMatchObject({ code: 0 });
    expect(await shows()).toBe(0);
  });

  test.each([
    'tenants create --name Other --plan sandbox --json',
    'operators create --name Ada --email ada@tests.invalid --role viewer --json',
    'ledger close --json',
    'ledger verify --json',
    'audit verify --json',
    'secrets list --json',
  ])('operators: %s', async (line) => {
    expect(await bursar(line, operatorEnv)).toMatchObject({ code: 0, error: '' });
  });

  test('doctor finds nothing wrong as the operators’ user', async () => {
    const { out } = await bursar('doctor --json', operatorEnv);
    const checks = JSON.parse(out) as { check: string; ok: boolean }[];
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['mongodb: transaction limit', 'temporal: search attributes']),
    );
  });

  test('reports are read by a user of their own', async () => {
    const report = dbAs('read_only').collection('transfers');
    expect(await report.countDocuments({ status: 'completed' })).toBeGreaterThan(0);
  });
});

type Act = (db: Db) => Promise<unknown>;
const insert =
  (name: string): Act =>
  (db) =>
    db.collection(name).insertOne({});
const change =
  (name: string): Act =>
  (db) =>
    db.collection(name).updateMany({}, { $set: { changed: true } });
const remove =
  (name: string): Act =>
  (db) =>
    db.collection(name).deleteMany({});
const removeNone =
  (name: string): Act =>
  (db) =>
    db.collection<{ _id: string }>(name).deleteMany({ _id: 'no such document' });
const read =
  (name: string): Act =>
  (db) =>
    db.collection(name).findOne({});

const REFUSED: Record<User, Record<string, Act>> = {
  service: {
    'change an entry of the audit log': change('audit_log'),
    'remove an entry of the audit log': remove('audit_log'),
    'remove the end of the audit log': remove('audit_end'),
    'change a posting': change('postings'),
    'remove postings': remove('postings'),
    'remove transfers': remove('transfers'),
    'make an operator': insert('operators'),
    'make a key of an operator': insert('operator_keys'),
    'make a tenant': insert('tenants'),
    'change a tenant': change('tenants'),
    'make an API key': insert('api_keys'),
    'make an endpoint': insert('webhook_endpoints'),
    'forget a migration': remove('migrations'),
    'remove the marks of the database': remove('environment'),
    'create a collection': (db) => db.createCollection('of_the_service'),
    'create an index': (db) => db.collection('transfers').createIndex({ narration: 1 }),
    'drop an index': (db) => db.collection('transfers').dropIndex('tenant_id_1_reference_1'),
    'drop a collection': (db) => db.collection('audit_log').drop(),
    'drop the database': (db) => db.dropDatabase(),
    'switch a validator off': (db) => db.command({ collMod: 'wallets', validationLevel: 'off' }),
    'make a user': (db) => db.command({ createUser: 'other', pwd: 'word', roles: ['read'] }),
    'give itself a role': () =>
      dbAs('service', 'admin').command({
        grantRolesToUser: `${DATABASE}_service`,
        roles: ['root'],
      }),
    'read another database': () => dbAs('service', 'another').collection('any').findOne({}),
    'read the oplog': () => dbAs('service', 'local').collection('oplog.rs').findOne({}),
  },
  operator: {
    'change an entry of the audit log': change('audit_log'),
    'remove an entry of the audit log': remove('audit_log'),
    'change a posting': change('postings'),
    'make a user': (db) => db.command({ createUser: 'other', pwd: 'word', roles: ['read'] }),
    'create an index': (db) => db.collection('transfers').createIndex({ narration: 1 }),
    'drop a collection': (db) => db.collection('audit_log').drop(),
    'read another database': () => dbAs('operator', 'another').collection('any').findOne({}),
  },
  migrate: {
    'read transfers': read('transfers'),
    'read API keys': read('api_keys'),
    'write wallets': insert('wallets'),
    'change an entry of the audit log': change('audit_log'),
    'drop a collection': (db) => db.collection('audit_log').drop(),
    'make a user': (db) => db.command({ createUser: 'other', pwd: 'word', roles: ['read'] }),
  },
  read_only: {
    'insert a transfer': insert('transfers'),
    'change a wallet': change('wallets'),
    'remove a posting': remove('postings'),
    'append to the audit log': insert('audit_log'),
    'create a collection': (db) => db.createCollection('of_reports'),
    'create an index': (db) => db.collection('transfers').createIndex({ narration: 1 }),
    'read another database': () => dbAs('read_only', 'another').collection('any').findOne({}),
  },
};

describe('each user of MongoDB does nothing else', () => {
  const acts = USERS.flatMap((user) =>
    Object.entries(REFUSED[user]).map(([title, act]) => [user, title, act] as const),
  );
  test.each(acts)('%s may not %s', async (user, _, act) => {
    await expect(act(dbAs(user))).rejects.toMatchObject({ codeName: 'Unauthorized' });
  });

  test.each(['postings', 'transfers', 'api_keys', 'webhook_endpoints'])(
    'operators may remove from %s, which the archive and rotations do',
    async (name) => {
      expect(await removeNone(name)(dbAs('operator'))).toMatchObject({ deletedCount: 0 });
    },
  );

  test('without a user, MongoDB answers no read', async () => {
    const anonymous = mongod.adminUri.replace(/\/\/[^@]+@/, '//').replace(/&?authSource=admin/, '');
    const client = new MongoClient(anonymous);
    const found = client.db(DATABASE).collection('transfers').findOne({});
    await expect(found).rejects.toMatchObject({ codeName: 'Unauthorized' });
    await client.close();
  });

  test('without a certificate of the client, MongoDB takes no connection', async () => {
    const uri = mongod.adminUri.replace(/&tlsCertificateKeyFile=[^&]+/, '');
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 2_000 });
    await expect(client.connect()).rejects.toThrow();
    await client.close();
  });
});

test('an API does not start on a database that has to be migrated, and says so', async () => {
  await dbAs('admin').collection('transfers').dropIndex('tenant_id_1_reference_1');
  const started = await migrateAs('service');
  expect(started).toMatchObject({ code: 1, error: expect.stringContaining('run bursar migrate') });
  expect(await migrateAs('migrate')).toMatchObject({ code: 0 });
});
