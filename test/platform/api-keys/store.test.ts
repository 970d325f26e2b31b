import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { createApiKeys } from '../../../src/platform/api-keys/store.js';
import { pepperUses } from '../../../src/platform/api-keys/pepper-register.js';
import { generateKey } from '../../../src/platform/api-keys/api-key.js';
import { ApiError } from '../../../src/shared/errors.js';
import { createLog } from '../../../src/shared/log.js';
import { createTenants } from '../../../src/platform/tenants/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const log = createLog({ level: 'silent', name: 'test' });
const peppers = [{ id: 'p1', secret: 'a pepper that only the tests use, long enough' }];
let database: TestDatabase;
let tenantId: string;
let now = new Date('2026-06-01T12:00:00Z');

/** A second process of the service: a cache of its own on the same database. */
function instance(environment: 'sandbox' | 'live' = 'sandbox', db = database.db) {
  const tenants = createTenants({ db, environment });
  return {
    tenants,
    keys: createApiKeys({ db, peppers, environment, tenants, log, clock: () => now }),
  };
}
const LOCALHOST = '127.0.0.1';

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('was not refused', { cause: error });
  return error.code;
}

beforeAll(async () => {
  database = await openTestDatabase();
  tenantId = (await instance().tenants.create({ name: 'Ada', plan: 'starter' })).id;
});
afterAll(() => database.close());

test('an accepted key identifies its tenant, with the plan', async () => {
  const { keys } = instance();
  const { id, key } = await keys.create({
    tenantId,
    level: 'admin',
    kind: 'secret',
    label: 'server',
  });
  const caller = await keys.authenticate(key, LOCALHOST);
  expect(caller).toMatchObject({ id, level: 'admin', kind: 'secret', rotationDue: false });
  expect(caller.tenant).toMatchObject({ id: tenantId, plan: 'starter' });
  await keys.idle();
});

test('the database does not contain the key itself', async () => {
  const { keys } = instance();
  const { key } = await keys.create({ tenantId, level: 'write', kind: 'public' });
  const stored = await database.db.collection('api_keys').find().toArray();
  expect(JSON.stringify(stored)).not.toContain(key);
  expect(JSON.stringify(stored)).not.toContain(key.slice(-20));
  expect(JSON.stringify(await keys.list(tenantId))).not.toContain(key);
});

test('each reason to refuse a key has a code of its own', async () => {
  const { keys } = instance();
  const { key } = await keys.create({
    tenantId,
    level: 'write',
    kind: 'secret',
    expiresAt: new Date(now.getTime() + 1_000),
    allowedIps: ['10.0.0.0/8'],
  });
  expect(await refusal(keys.authenticate('hunter2', LOCALHOST))).toBe('invalid_key');
  expect(await refusal(keys.authenticate(`${key.slice(0, -1)}!`, LOCALHOST))).toBe('invalid_key');
  const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  expect(await refusal(keys.authenticate(typo, '10.0.0.1'))).toBe('invalid_key');
  const other = generateKey('secret', 'live');
  expect(await refusal(keys.authenticate(other, LOCALHOST))).toBe('wrong_environment');
  expect(await refusal(keys.authenticate('sk_live_abc', LOCALHOST))).toBe('wrong_environment');
  const unknown = generateKey('secret', 'sandbox');
  expect(await refusal(keys.authenticate(unknown, LOCALHOST))).toBe('unauthorized');
  expect(await refusal(keys.authenticate(key, LOCALHOST))).toBe('ip_not_allowed');
  expect(await refusal(keys.authenticate(key, 'unknown'))).toBe('ip_not_allowed');
  expect((await keys.authenticate(key, '10.1.2.3')).tenant.id).toBe(tenantId);
  now = new Date(now.getTime() + 1_000);
  expect(await refusal(keys.authenticate(key, '10.1.2.3'))).toBe('expired_key');
  await keys.idle();
});

test('under another pepper no key is accepted', async () => {
  const { keys, tenants } = instance();
  const { key } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  const { db } = database;
  const stranger = createApiKeys({
    db,
    peppers: [{ id: 'p1', secret: 'another pepper' }],
    environment: 'sandbox',
    tenants,
    log,
  });
  expect(await refusal(stranger.authenticate(key, LOCALHOST))).toBe('unauthorized');
});

test('a revocation takes effect on every instance within a second', async () => {
  const [a, b] = [instance().keys, instance().keys];
  const { id, key } = await a.create({ tenantId, level: 'write', kind: 'secret' });
  await Promise.all([a.authenticate(key, LOCALHOST), b.authenticate(key, LOCALHOST)]);
  expect(await a.revoke(id)).toBe(true);
  const revokedAt = performance.now();
  expect(await refusal(a.authenticate(key, LOCALHOST))).toBe('expired_key');
  // Constant use must not extend the life of the cache entry.
  while (performance.now() - revokedAt < 950) {
    await Promise.allSettled(Array.from({ length: 20 }, () => b.authenticate(key, LOCALHOST)));
    await sleep(10);
  }
  expect(await refusal(b.authenticate(key, LOCALHOST))).toBe('expired_key');
  await Promise.all([a.idle(), b.idle()]);
});

test('a revocation is permanent and keeps its first time; revoking an unknown id returns false', async () => {
  const { keys } = instance();
  const { id } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  await keys.revoke(id);
  const first = (await keys.list(tenantId)).find((key) => key.id === id)?.revokedAt;
  now = new Date(now.getTime() + 60_000);
  expect(await keys.revoke(id)).toBe(true);
  expect((await keys.list(tenantId)).find((key) => key.id === id)?.revokedAt).toEqual(first);
  expect(await keys.revoke('key_01h455vb4pex5vsknk084sn02q')).toBe(false);
});

test('a change of the tenant takes effect within a second', async () => {
  const { keys, tenants } = instance();
  const { key } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  expect((await keys.authenticate(key, LOCALHOST)).tenant.features.cards).toBe(true);
  await tenants.update(tenantId, { features: { cards: false } });
  await sleep(1_000);
  const caller = await keys.authenticate(key, LOCALHOST);
  expect(caller.tenant.features).toMatchObject({ cards: false, identity: true });
  await keys.idle();
});

test('concurrent callers share one look-up, and unknown keys are cached too', async () => {
  const { keys } = instance();
  const { key } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  const guess = generateKey('secret', 'sandbox');
  const client = new MongoClient(database.uri, { monitorCommands: true, useBigInt64: true });
  const lookups: string[] = [];
  client.on('commandStarted', (event) => {
    if (event.command['find'] === 'api_keys') lookups.push(event.commandName);
  });
  const watched = instance('sandbox', client.db(database.name)).keys;
  await Promise.allSettled(
    Array.from({ length: 100 }, (_, i) => watched.authenticate(i % 2 ? key : guess, LOCALHOST)),
  );
  expect(lookups).toHaveLength(2);
  await watched.idle();
  await client.close();
});

test('the last use of a key is recorded, at most once a minute by each process', async () => {
  const { keys } = instance();
  const { id, key } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  // Written with w: 1, so read with a local read concern.
  const stored = database.db.collection<{ _id: string; last_used_at: Date | null }>('api_keys', {
    readConcern: { level: 'local' },
  });
  const lastUse = async () => (await stored.findOne({ _id: id }))?.last_used_at;
  expect(await lastUse()).toBeNull();
  await keys.authenticate(key, LOCALHOST);
  await keys.idle();
  const first = now;
  expect(await lastUse()).toEqual(first);
  now = new Date(now.getTime() + 5_000);
  await keys.authenticate(key, LOCALHOST);
  await keys.idle();
  expect(await lastUse()).toEqual(first);
});

test('creating a key for an unknown tenant or with an invalid address is refused', async () => {
  const { keys } = instance();
  const wanted = { level: 'write', kind: 'secret' } as const;
  expect(await refusal(keys.create({ ...wanted, tenantId: 'ten_nobody' }))).toBe(
    'validation_error',
  );
  const bad = keys.create({ ...wanted, tenantId, allowedIps: ['10.0.0.0/8', 'office'] });
  expect(await refusal(bad)).toBe('validation_error');
});

test('a key older than 90 days is due for rotation', async () => {
  const { keys } = instance();
  const { id, key } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  now = new Date(now.getTime() + 91 * 24 * 60 * 60 * 1000);
  expect((await keys.authenticate(key, LOCALHOST)).rotationDue).toBe(true);
  expect((await keys.list(tenantId)).find((found) => found.id === id)?.rotationDue).toBe(true);
  await keys.idle();
});

test('rotation creates a key with the same rights, and the old key ends after the overlap in every process', async () => {
  const [a, b] = [instance().keys, instance().keys];
  const DAY_MS = 24 * 60 * 60 * 1000;
  const wanted = {
    level: 'read',
    kind: 'public',
    label: 'shop',
    allowedIps: ['10.0.0.0/8'],
  } as const;
  const old = await a.create({ ...wanted, tenantId, expiresAt: new Date(now.getTime() + DAY_MS) });
  now = new Date(now.getTime() + DAY_MS / 2);
  const made = await a.rotate(old.id, { overlapMs: 60_000 });
  expect(made?.oldExpiresAt).toEqual(new Date(now.getTime() + 60_000));
  const found = async (id?: string) => (await a.list(tenantId)).find((key) => key.id === id);
  expect(await found(made?.id)).toMatchObject({
    ...wanted,
    expiresAt: new Date(now.getTime() + DAY_MS),
    replacedBy: null,
  });
  expect(await found(old.id)).toMatchObject({ replacedBy: made?.id, rotationDue: false });
  for (const key of [old.key, made?.key ?? '']) {
    expect((await b.authenticate(key, '10.1.2.3')).tenant.id).toBe(tenantId);
  }
  now = new Date(now.getTime() + 60_000);
  expect(await refusal(b.authenticate(old.key, '10.1.2.3'))).toBe('expired_key');
  expect((await b.authenticate(made?.key ?? '', '10.1.2.3')).tenant.id).toBe(tenantId);
  await Promise.all([a.idle(), b.idle()]);
});

test('a key is rotated only once, and not after it has ended', async () => {
  const { keys } = instance();
  const { id } = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  const before = (await keys.list(tenantId)).length;
  const made = await Promise.all([1, 2, 3].map(() => keys.rotate(id, { overlapMs: 1_000 })));
  expect(made.filter((one) => one !== null)).toHaveLength(1);
  expect(await keys.list(tenantId)).toHaveLength(before + 1);
  const revoked = await keys.create({ tenantId, level: 'write', kind: 'secret' });
  await keys.revoke(revoked.id);
  expect(await keys.rotate(revoked.id, { overlapMs: 1_000 })).toBeNull();
  expect(await keys.rotate('key_01h455vb4pex5vsknk084sn02q', { overlapMs: 1_000 })).toBeNull();
});

test('peppers are exchanged without a pause: a key in use gets its hash under the first one, one that is not used stays under the old one', async () => {
  const [old, fresh] = [
    { id: 'old', secret: 'an old pepper of the tests, long enough' },
    { id: 'fresh', secret: 'a fresh pepper of the tests, long enough' },
  ];
  const tenants = createTenants({ db: database.db, environment: 'sandbox' });
  const under = (...peppers: (typeof old)[]) =>
    createApiKeys({ db: database.db, peppers, environment: 'sandbox', tenants, log });
  const before = under(old, fresh);
  const made = { tenantId, level: 'read', kind: 'secret' } as const;
  const [used, idle] = [await before.create(made), await before.create(made)];
  const between = under(fresh, old);
  const useIn = (keys: typeof before, key: string) => keys.authenticate(key, LOCALHOST);
  for (const keys of [between, before]) {
    expect(await keys.isKnown(used.key)).toBe(true);
    expect((await useIn(keys, used.key)).id).toBe(used.id);
  }
  await Promise.all([before.idle(), between.idle()]);
  // A process with the former order has put it back: it is renewed again by the next use in a process with the new one.
  const again = under(fresh, old);
  await useIn(again, used.key);
  await again.idle();
  expect((await pepperUses(database.db)).get('old')).toEqual({ api_keys: 1 });
  // A revocation takes effect in the process at once, whichever pepper the hash is under.
  const revoked = await before.create(made);
  await useIn(between, revoked.key);
  await between.revoke(revoked.id);
  expect(await refusal(useIn(between, revoked.key))).toBe('expired_key');

  const after = under(fresh);
  expect((await useIn(after, used.key)).id).toBe(used.id);
  expect(await refusal(useIn(after, idle.key))).toBe('unauthorized');
  await Promise.all([between.idle(), after.idle()]);
});
