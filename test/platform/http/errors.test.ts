import {
  MongoClient,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from 'mongodb';
import request from 'supertest';
import { createWriteProbe } from '../../../src/platform/database/write-probe.js';
import { OverloadError } from '../../../src/shared/batching.js';
import { ApiError } from '../../../src/shared/errors.js';
import { toApiError } from '../../../src/platform/http/error-handler.js';
import { createApiKeys } from '../../../src/platform/api-keys/store.js';
import { createApp } from '../../../src/composition/app.js';
import { createHealth } from '../../../src/platform/http/health.js';
import { createRateLimits } from '../../../src/platform/rate-limits/store.js';
import { createTenants } from '../../../src/platform/tenants/store.js';
import { createTestApp, PEPPERS } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await createTestApp();
  ({ key } = await app.createKey());
});
afterAll(() => app.close());
const get = (path: string) =>
  request(app.server).get(`/api/v1${path}`).set('Authorization', `Bearer ${key}`);

test('an unexpected error is a 500 without details; the log has them, without keys or account numbers', async () => {
  const answer = await get('/broken').set('X-Request-Id', 'find-me');
  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({
    success: false,
    error: { code: 'internal_error', message: 'Something went wrong on our side.', status: 500 },
  });
  const line = app.lines.find(
    (text) => text.includes('find-me') && text.includes('request failed'),
  );
  expect(line).toContain('is broken');
  expect(line).not.toContain('0123456789');
  expect(line).not.toContain('abcdef0123');
});

test('an answer that cannot be serialised is a 500 in the envelope', async () => {
  const answer = await get('/unserializable');
  expect([answer.status, answer.body.error.code]).toEqual([500, 'internal_error']);
});

test('a refusal has its details in the envelope', async () => {
  const answer = await get('/unfortunate');
  expect(answer.status).toBe(422);
  expect(answer.body.error).toMatchObject({
    code: 'insufficient_balance',
    details: { required: 2, available: 1 },
  });
});

test('an unavailable database and overload are 503 with Retry-After; programming errors are 500', () => {
  const labelled = new MongoServerError({ message: 'x', code: 1 });
  labelled.addErrorLabel('TransientTransactionError');
  const unavailable = [
    new OverloadError(),
    new MongoNetworkError('connection reset'),
    new MongoServerSelectionError('away', {} as TopologyDescription),
    new MongoServerError({ message: 'x', code: 50 }),
    new MongoServerError({ message: 'x', code: 10_107 }),
    labelled,
    new Error('could not commit', { cause: new MongoNetworkError('reset') }),
  ];
  for (const error of unavailable) {
    expect(toApiError(error)).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 });
  }
  const faults = [
    new MongoServerError({ message: 'Document failed validation', code: 121 }),
    new MongoServerError({ message: 'E11000 duplicate key', code: 11_000 }),
    new TypeError('x is not a function'),
    'a text',
    undefined,
  ];
  for (const error of faults) expect(toApiError(error).code).toBe('internal_error');
  const refusal = new ApiError('invalid_state');
  expect(toApiError(refusal)).toBe(refusal);
});

test('without a database every request is 503 in the envelope with all headers, and the service is not ready', async () => {
  const client = new MongoClient('mongodb://127.0.0.1:9/', { serverSelectionTimeoutMS: 200 });
  const db = client.db('nowhere');
  const tenants = createTenants({ db, environment: 'sandbox' });
  const apiKeys = createApiKeys({
    db,
    peppers: PEPPERS,
    environment: 'sandbox',
    tenants,
    log: app.log,
  });
  const away = createApp({
    log: app.log,
    apiKeys,
    rateLimits: createRateLimits({ db, log: app.log }),
    load: app.load,
    writeProbe: createWriteProbe({ db }),
    measure: (_ctx, next) => next(),
    health: createHealth({ checks: { database: () => db.command({ ping: 1 }) }, log: app.log }),
    openApi: '{}',
    environment: 'sandbox',
    providers: { serves: () => true },
    routes: [],
    trustedProxies: 0,
  }).callback();
  const answer = await request(away).get('/api/v1/things').set('Authorization', `Bearer ${key}`);
  expect([answer.status, answer.body.error.code]).toEqual([503, 'service_unavailable']);
  expect(answer.headers['retry-after']).toBe('1');
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(answer.headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
  }
  const ready = await request(away).get('/health/ready');
  expect(ready.body.error.details.checks).toEqual({ database: 'failed' });
  await client.close();
});

test('each request is logged in one line with caller and route, without path and body', async () => {
  app.lines.length = 0;
  await get('/things/0123456789?x=1234567890').set('X-Request-Id', 'line-1');
  await get('/nowhere/0123456789').set('X-Request-Id', 'line-2');
  const lines = app.lines.map((line) => JSON.parse(line));
  const found = lines.filter((line) => line.msg === 'request');
  expect(found).toHaveLength(2);
  expect(found[0]).toMatchObject({
    level: 'info',
    request_id: 'line-1',
    method: 'GET',
    route: '/api/v1/things/:id',
    status: 400,
    ms: expect.any(Number),
    tenant: expect.stringMatching(/^ten_/),
    key_id: expect.stringMatching(/^key_/),
  });
  expect(found[1]).toMatchObject({ request_id: 'line-2', status: 404 });
  expect(app.lines.join('')).not.toContain('0123456789');
  expect(app.lines.join('')).not.toContain(key);
});
