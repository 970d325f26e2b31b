import request from 'supertest';
import { generateKey } from '../../../src/platform/api-keys/api-key.js';
import { eventually } from '../../support/eventually.js';
import { createTestApp } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ trustedProxies: 1, callbackAllowance: { rate: 5, burst: 5 } });
});
afterAll(() => app.close());
beforeEach(async () => {
  // The test must not run across the end of a window.
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 10_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 100));
});

function call(
  method: 'get' | 'post' | 'options' | 'patch',
  path: string,
  key: string | null,
  address: string,
) {
  const call = request(app.server)[method](path).set('X-Forwarded-For', address);
  return key === null ? call : call.set('Authorization', `Bearer ${key}`);
}

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

test('every answer has the three rate-limit headers and a request id', async () => {
  const { key } = await app.createKey();
  const answers = [
    await call('get', '/api/v1/things', key, '192.0.2.1'),
    await call('post', '/api/v1/things', key, '192.0.2.1').send({ amount_minor: -1 }),
    await call('post', '/api/v1/things', key, '192.0.2.1').type('text').send('x'),
    await call('get', '/api/v1/nowhere', key, '192.0.2.1'),
    await call('patch', '/api/v1/things', key, '192.0.2.1'),
    await call('get', '/api/v1/broken', key, '192.0.2.1'),
    await call('get', '/api/v1/unserializable', key, '192.0.2.1'),
    await call('get', '/api/v1/unfortunate', key, '192.0.2.1'),
    await call('options', '/api/v1/things', null, '192.0.2.1'),
    await call('get', '/api/v1/things', null, '192.0.2.1'),
    await call('get', '/api/v1/things', 'garbage', '192.0.2.1'),
    await call('get', '/nowhere', null, '192.0.2.1'),
    await call('post', '/api/v1/webhooks/payments/bank', null, '192.0.2.1').send({}),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([
    200, 400, 415, 404, 405, 500, 500, 422, 204, 401, 401, 404, 200,
  ]);
  for (const answer of answers) {
    for (const name of HEADERS) expect(answer.headers[name]).toMatch(/^\d+$/);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  }
});

test('the rate-limit headers count down the tenant’s allowance over all of its keys', async () => {
  const first = await app.createKey({}, { plan: 'starter' });
  const second = await app.apiKeys.create({
    tenantId: first.tenantId,
    level: 'read',
    kind: 'secret',
  });
  const a = await call('get', '/api/v1/things', first.key, '192.0.2.2');
  const b = await call('get', '/api/v1/things', second.key, '192.0.2.3');
  expect([a.headers['x-ratelimit-limit'], a.headers['x-ratelimit-remaining']]).toEqual([
    '1500',
    '1499',
  ]);
  expect(b.headers['x-ratelimit-remaining']).toBe('1498');
  const resetIn = Number(a.headers['x-ratelimit-reset']) - Date.now() / 1000;
  expect(resetIn).toBeGreaterThan(-1);
  expect(resetIn).toBeLessThanOrEqual(60);
});

test('above the allowance a request gets the documented 429 and has no effect', async () => {
  const { key } = await app.createKey({}, { plan: 'enterprise', ratePerMinute: 10 });
  const effectsBefore = app.effects.length;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      call('post', '/api/v1/things', key, '192.0.2.4').send({
        amount_minor: 1,
        account: '0123456789',
      }),
    ),
  );
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(15);
  expect(app.effects.length - effectsBefore).toBe(15);
  const refused = answers.filter((answer) => answer.status === 429);
  expect(refused).toHaveLength(5);
  for (const answer of refused) {
    const { error, success } = answer.body;
    expect(success).toBe(false);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(error.details).toMatchObject({ limit: 15, window: '1m' });
    expect(answer.headers['retry-after']).toBe(String(error.details.retry_after));
    expect(error.details.retry_after).toBeGreaterThan(0);
    expect(error.details.retry_after).toBeLessThanOrEqual(60);
    expect(answer.headers['x-ratelimit-remaining']).toBe('0');
  }
});

test('guessing keys ends in 429, and a key in use from the same address is not affected', async () => {
  const { key } = await app.createKey();
  expect((await call('get', '/api/v1/things', key, '192.0.2.5')).status).toBe(200);
  const statuses: number[] = [];
  for (let i = 0; i < 95; i += 1) {
    const guess = generateKey('secret', 'sandbox');
    statuses.push((await call('get', '/api/v1/things', guess, '192.0.2.5')).status);
  }
  expect(statuses.slice(0, 90)).toEqual(Array.from({ length: 90 }, () => 401));
  expect(statuses.slice(90)).toEqual([429, 429, 429, 429, 429]);
  expect((await call('get', '/nowhere', null, '192.0.2.5')).status).toBe(429);
  expect((await call('get', '/api/v1/things', key, '192.0.2.5')).status).toBe(200);
  expect((await call('get', '/api/v1/things', null, '192.0.2.6')).status).toBe(401);
  // A forged entry before the proxy's does not count as another address.
  expect((await call('get', '/nowhere', null, '192.0.2.77, 192.0.2.5')).status).toBe(429);
});

/** The number of look-ups of keys that the database has made. */
async function keyLookUps(): Promise<number> {
  const indexes = await app.database.db
    .collection('api_keys')
    .aggregate<{ key: object; accesses: { ops: number } }>([{ $indexStats: {} }])
    .toArray();
  return Number(indexes.find(({ key }) => 'hash' in key)?.accesses.ops);
}

test('an address that has used up its window causes no look-up of a key, except for keys in use', async () => {
  const { id, key } = await app.createKey();
  const address = '192.0.2.30';
  const guess = async () =>
    (await call('get', '/api/v1/things', generateKey('secret', 'sandbox'), address)).status;
  expect((await call('get', '/api/v1/things', key, address)).status).toBe(200);
  for (let i = 0; i < 91; i += 1) await guess();
  expect(await guess()).toBe(429);
  const before = await keyLookUps();
  for (let i = 0; i < 40; i += 1) expect(await guess()).toBe(429);
  expect(await keyLookUps()).toBe(before);

  expect((await call('get', '/api/v1/things', key, address)).status).toBe(200);
  const callback = call('post', '/api/v1/webhooks/payments/bank', null, address).send({});
  expect((await callback).status).toBe(200);
  await app.apiKeys.revoke(id);
  await call('get', '/api/v1/things', key, address);
  const afterRefusal = await keyLookUps();
  expect((await call('get', '/api/v1/things', key, address)).status).toBe(429);
  expect(await keyLookUps()).toBe(afterRefusal);
});

test('a valid key that is new to its process works from an address that has used up its window', async () => {
  const address = '192.0.2.31';
  const get = (key: string) => call('get', '/api/v1/things', key, address);
  const { key } = await app.createKey();
  for (let i = 0; i < 91; i += 1) await get(generateKey('secret', 'sandbox'));
  expect((await get(generateKey('secret', 'sandbox'))).status).toBe(429);
  // Keys are read again every two seconds at most, so one that was created meanwhile is known within seconds.
  const later = await app.createKey();
  for (const each of [key, later.key]) {
    await eventually('the key is known', async () =>
      (await get(each)).status === 200 ? true : undefined,
    );
  }
  expect((await get(generateKey('secret', 'sandbox'))).status).toBe(429);
});

test('provider routes are counted by address, separately from other requests', async () => {
  const callback = (address: string) =>
    call('post', '/api/v1/webhooks/payments/bank', null, address).send({});
  for (let i = 0; i < 5; i += 1) expect((await callback('192.0.2.8')).status).toBe(200);
  expect((await callback('192.0.2.8')).status).toBe(429);
  expect((await callback('192.0.2.9')).status).toBe(200);
  expect((await call('get', '/api/v1/things', null, '192.0.2.8')).status).toBe(401);
});

test('a flood with a public key ends in 429 for its address, and leaves the secret keys’ window unchanged', async () => {
  const { secret, publicKey: key } = await publicAndSecret();
  const flood = await Promise.all(
    Array.from({ length: 12 }, () => call('post', '/api/v1/payment-tokens', key, '192.0.2.20')),
  );
  // A quarter of the burst passes the limit.
  expect(flood.filter(({ status }) => status === 201)).toHaveLength(6);
  expect(flood.filter(({ status }) => status === 429)).toHaveLength(6);
  const other = await call('post', '/api/v1/payment-tokens', key, '192.0.2.21');
  expect(other.status).toBe(201);
  const own = await call('get', '/api/v1/things', secret.key, '192.0.2.20');
  expect([own.status, own.headers['x-ratelimit-remaining']]).toEqual([200, '23']);
});

test('requests that a key has no right to use up nothing of its tenant’s windows, and count by address', async () => {
  const { secret, publicKey } = await publicAndSecret();
  const { key: reader } = await app.apiKeys.create({
    tenantId: secret.tenantId,
    level: 'read',
    kind: 'secret',
  });
  for (let i = 0; i < 30; i += 1) {
    const forbidden = await Promise.all([
      call('get', '/api/v1/things', publicKey, '192.0.2.22'),
      call('post', '/api/v1/things', reader, '192.0.2.23').send({}),
    ]);
    expect(forbidden.map(({ status }) => status)).toEqual([403, 403]);
    expect(forbidden.map(({ headers }) => headers['x-ratelimit-limit'])).toEqual(['90', '90']);
  }
  const shop = await call('post', '/api/v1/payment-tokens', publicKey, '192.0.2.22');
  expect([shop.status, shop.headers['x-ratelimit-remaining']]).toEqual([201, '5']);
  const own = await call('get', '/api/v1/things', secret.key, '192.0.2.23');
  expect([own.status, own.headers['x-ratelimit-remaining']]).toEqual([200, '23']);

  const last = await Promise.all(
    Array.from({ length: 70 }, () => call('get', '/api/v1/things', publicKey, '192.0.2.22')),
  );
  expect(last.filter(({ status }) => status === 429)).toHaveLength(10);
});

test('an operation that only stops spending is answered while its tenant’s window is used up', async () => {
  const { key } = await app.createKey({}, { plan: 'enterprise', ratePerMinute: 4 });
  const flood = await Promise.all(
    Array.from({ length: 8 }, () => call('get', '/api/v1/things', key, '192.0.2.24')),
  );
  expect(flood.filter(({ status }) => status === 429)).toHaveLength(2);
  const lock = () => call('post', '/api/v1/things/7/lock', key, '192.0.2.24').send({});
  const locked = await Promise.all(Array.from({ length: 7 }, lock));
  expect(locked.filter(({ status }) => status === 201)).toHaveLength(6);
  expect(locked.filter(({ status }) => status === 429)).toHaveLength(1);
});

/** A tenant with 16 requests in a minute, and 24 in the first. */
async function publicAndSecret() {
  const secret = await app.createKey({}, { plan: 'enterprise', ratePerMinute: 16 });
  const made = await app.apiKeys.create({
    tenantId: secret.tenantId,
    level: 'write',
    kind: 'public',
  });
  return { secret, publicKey: made.key };
}
