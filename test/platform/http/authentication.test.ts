import request from 'supertest';
import { generateKey } from '../../../src/platform/api-keys/api-key.js';
import { createTestApp } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ trustedProxies: 1 });
});
afterAll(() => app.close());

/** Each case uses an address of its own, because failed authentication is counted by address. */
let host = 0;
function call(method: 'get' | 'post' | 'put' | 'delete' | 'head', path: string, key?: string) {
  host += 1;
  const agent = request(app.server);
  const call = agent[method](`/api/v1${path}`);
  void call.set('X-Forwarded-For', `198.51.${host >> 8}.${host & 255}`);
  return key === undefined ? call : call.set('Authorization', `Bearer ${key}`);
}

const VALID = { amount_minor: 5, account: '0123456789' };

test('401 unauthorized: no key, another scheme, an unknown key', async () => {
  const unknown = generateKey('secret', 'sandbox');
  const answers = [
    await call('get', '/things'),
    await call('get', '/things').set('Authorization', 'Basic Zm9vOmJhcg=='),
    await call('get', '/things').set('Authorization', 'Bearer'),
    await call('get', '/things').set('Authorization', 'Bearer two words'),
    await call('get', '/things', unknown),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({
      success: false,
      error: { code: 'unauthorized', status: 401 },
    });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  }
});

test('401 invalid_key: a malformed key or a typo in one', async () => {
  const { key } = await app.createKey();
  const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  for (const token of ['hunter2', 'sk_sandbox_', 'sk_test_abc', typo, `${key}x`]) {
    const answer = await call('get', '/things', token);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_key']);
  }
});

test('401 wrong_environment: a live key in the sandbox', async () => {
  const answer = await call('get', '/things', generateKey('secret', 'live'));
  expect([answer.status, answer.body.error.code]).toEqual([401, 'wrong_environment']);
});

test('401 expired_key: an expired key, or one revoked less than a second ago', async () => {
  const expired = await app.createKey({ expiresAt: new Date(Date.now() - 1) });
  const answer = await call('get', '/things', expired.key);
  expect([answer.status, answer.body.error.code]).toEqual([401, 'expired_key']);

  const { id, key } = await app.createKey();
  expect((await call('get', '/things', key)).status).toBe(200);
  await app.apiKeys.revoke(id);
  const revoked = await call('get', '/things', key);
  expect([revoked.status, revoked.body.error.code]).toEqual([401, 'expired_key']);
});

test('403 ip_not_allowed: an address outside the allow-list, also with a forged X-Forwarded-For', async () => {
  const { key } = await app.createKey({ allowedIps: ['203.0.113.0/24'] });
  const from = (forwardedFor: string) =>
    call('get', '/things', key).set('X-Forwarded-For', forwardedFor);
  expect((await from('203.0.113.9')).status).toBe(200);
  const refused = await from('198.51.100.1');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'ip_not_allowed']);
  expect((await from('203.0.113.9, 198.51.100.1')).status).toBe(403);
});

test('403 forbidden: a read key that does more than GET', async () => {
  const { key } = await app.createKey({ level: 'read' });
  expect((await call('get', '/things', key)).status).toBe(200);
  expect((await call('head', '/things', key)).status).toBe(200);
  const answer = await call('post', '/things', key).send(VALID);
  expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
  expect((await call('delete', '/things', key)).status).toBe(403);
  expect(app.effects).toEqual([]);
});

test('403 forbidden: a sensitive operation without an admin key', async () => {
  const write = await app.createKey({ level: 'write' });
  const admin = await app.createKey({ level: 'admin' });
  expect((await call('put', '/settings', write.key)).status).toBe(403);
  expect((await call('put', '/settings', admin.key)).status).toBe(200);
  expect((await call('get', '/things', admin.key)).status).toBe(200);
});

test('403 forbidden: a public key outside the operations for public keys', async () => {
  const { key } = await app.createKey({ kind: 'public', level: 'admin' });
  expect((await call('post', '/payment-tokens', key)).status).toBe(201);
  for (const [method, path] of [
    ['get', '/things'],
    ['post', '/things'],
    ['put', '/settings'],
    ['get', '/payment-tokens'],
    ['get', '/nowhere'],
  ] as const) {
    const answer = await call(method, path, key);
    expect([method, path, answer.status, answer.body.error.code]).toEqual([
      method,
      path,
      403,
      'forbidden',
    ]);
  }
});

test('no spelling of a path bypasses authentication', async () => {
  for (const path of [
    '/API/V1/things',
    '/api/v1/things/',
    '/Api/v1/things?x=1',
    '/api/v1//things',
    '/api/v1/%74hings',
    '//api/v1/things',
    '/./api/v1/things',
    '/health/../api/v1/things',
    '/health/ready/api/v1/things',
  ]) {
    host += 1;
    const answer = await request(app.server)
      .get(path)
      .set('X-Forwarded-For', `192.0.2.${host & 255}`);
    expect([path, answer.status < 300]).toEqual([path, false]);
  }
});

test('a request acts for the tenant of its key', async () => {
  const { key, tenantId } = await app.createKey();
  const answer = await call('get', '/things/7', key);
  expect(answer.body.data).toEqual({ id: '7', tenant: tenantId });
});

test('every answer to a key older than 90 days has X-Key-Rotation-Due', async () => {
  const old = await createTestApp({ clock: () => new Date(Date.now() + 91 * 86_400_000) });
  const { id, key } = await old.createKey();
  const created = new Date(Date.now() - 86_400_000);
  const stored = old.database.db.collection<{ _id: string }>('api_keys');
  await stored.updateOne({ _id: id }, { $set: { created_at: created } });
  const answer = await request(old.server)
    .get('/api/v1/things')
    .set('Authorization', `Bearer ${key}`);
  expect(answer.headers['x-key-rotation-due']).toBe('true');
  const { key: fresh } = await app.createKey();
  expect((await call('get', '/things', fresh)).headers['x-key-rotation-due']).toBeUndefined();
  await old.close();
});

test('403 feature_not_enabled: a feature that the tenant does not have, for a key with the right to it', async () => {
  const features = { identity: true, virtual_accounts: true, cards: false, billpay: true };
  const without = await app.createKey({}, { features });
  const answer = await call('get', '/cards', without.key);
  expect([answer.status, answer.body.error.code]).toEqual([403, 'feature_not_enabled']);
  const withCards = await app.createKey();
  expect((await call('get', '/cards', withCards.key)).status).toBe(200);
});

test('403 feature_not_enabled: a capability that no provider serves, for a tenant that has the feature', async () => {
  const { key } = await app.createKey();
  const answer = await call('get', '/billpay/payments', key);
  expect([answer.status, answer.body.error.code]).toEqual([403, 'feature_not_enabled']);
});
