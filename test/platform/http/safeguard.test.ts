import Koa from 'koa';
import { Router } from '@koa/router';
import request from 'supertest';
import { createApiKeys } from '../../../src/platform/api-keys/store.js';
import { authenticate } from '../../../src/platform/http/authenticate.js';
import { clientAddress } from '../../../src/platform/http/client-address.js';
import type { AppState, Middleware } from '../../../src/platform/http/context.js';
import { errorHandler } from '../../../src/platform/http/error-handler.js';
import { createSafeguard, limitByTenant } from '../../../src/platform/http/rate-limit.js';
import { sendData } from '../../../src/platform/http/respond.js';
import { createLog } from '../../../src/shared/log.js';
import { createRateLimits } from '../../../src/platform/rate-limits/store.js';
import { createTenants, type NewTenant } from '../../../src/platform/tenants/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const log = createLog({ level: 'silent', name: 'test' });
let database: TestDatabase;
let callback: ReturnType<Koa['callback']>;
let createTenant: (wanted?: Partial<NewTenant>) => Promise<{ id: string; key: string }>;
let tenants: ReturnType<typeof createTenants>;
let idle: () => Promise<unknown>;

beforeAll(async () => {
  database = await openTestDatabase();
  const { db } = database;
  tenants = createTenants({ db, environment: 'sandbox' });
  const keyDeps = {
    db,
    peppers: [{ id: 'p1', secret: 'only for tests' }],
    environment: 'sandbox',
    tenants,
    log,
  } as const;
  const apiKeys = createApiKeys(keyDeps);
  // The default of 50 ms would fail on a busy test machine.
  const rateLimits = createRateLimits({ db, log, answerWithinMs: 10_000 });
  idle = () => Promise.all([apiKeys.idle(), rateLimits.idle()]);
  const app = new Koa<AppState>();
  app.use(clientAddress({ trustedProxies: 0 })).use(errorHandler({ log }));
  app
    .use(authenticate({ apiKeys }))
    .use(limitByTenant({ rateLimits, operationAt: () => undefined }));
  const router = new Router<AppState>();
  const safeguard = createSafeguard({ rateLimits });
  router.post('/cards/:id/fund', async (ctx) => {
    await safeguard(ctx, 'card_fund', ctx.params.id);
    sendData(ctx, 201, {});
  });
  router.get('/events', async (ctx) => {
    await safeguard(ctx, 'card_events');
    sendData(ctx, 200, []);
  });
  app.use(router.routes() as Middleware);
  callback = app.callback();
  createTenant = async (wanted = {}) => {
    const { id } = await tenants.create({ name: 'Ada', plan: 'scale', ...wanted });
    const { key } = await apiKeys.create({ tenantId: id, level: 'write', kind: 'secret' });
    return { id, key };
  };
});
afterAll(async () => {
  await idle();
  await database.close();
});
beforeEach(async () => {
  // The test must not run across the end of a window.
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 10_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 100));
});

const call = (method: 'get' | 'post', path: string, key: string) =>
  request(callback)[method](path).set('Authorization', `Bearer ${key}`);

test('a safeguard lets its number of attempts pass for each subject, and then refuses with 429', async () => {
  const { id, key } = await createTenant();
  await tenants.update(id, { safeguards: { card_fund: 3 } });
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => call('post', '/cards/crd_1/fund', key)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(3);
  for (const { headers, body } of refused) {
    expect(body.error).toMatchObject({ code: 'rate_limit_exceeded', details: { limit: 3 } });
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    expect(headers['retry-after']).toBe(String(body.error.details.retry_after));
  }
  expect((await call('post', '/cards/crd_2/fund', key)).status).toBe(201);
  const other = await createTenant();
  expect((await call('post', '/cards/crd_1/fund', other.key)).status).toBe(201);
});

test('a tenant without figures of its own has the default safeguards; the headers show the limit with less remaining', async () => {
  const { key } = await createTenant();
  const listed = await call('get', '/events', key);
  expect(listed.headers).toMatchObject({
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '59',
  });
  const funded = await call('post', `/cards/${'x'.repeat(5_000)}/fund`, key);
  expect(funded.headers).toMatchObject({
    'x-ratelimit-limit': '30',
    'x-ratelimit-remaining': '29',
  });
  const poor = await createTenant({ plan: 'enterprise', ratePerMinute: 6 });
  expect((await call('get', '/events', poor.key)).headers['x-ratelimit-limit']).toBe('9');
});
