import { appendFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { Router } from '@koa/router';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createApiKeys, type NewApiKey } from '../../src/api-keys/store.js';
import { createApp } from '../../src/app.js';
import { ApiError } from '../../src/errors.js';
import { acceptPublicKeys, requireLevel } from '../../src/http/authenticate.js';
import { jsonBody, rawBody } from '../../src/http/body.js';
import { callerOf, type AppState } from '../../src/http/context.js';
import { createHealth, type HealthCheck } from '../../src/http/health.js';
import { createLoad, type LoadLimits } from '../../src/http/load.js';
import { sendData, sendList } from '../../src/http/respond.js';
import { validateBody, validateQuery } from '../../src/http/validate.js';
import { createLog } from '../../src/log.js';
import { measureRequests } from '../../src/metrics/requests.js';
import { createRateLimits } from '../../src/rate-limits/store.js';
import { createTenants, type NewTenant } from '../../src/tenants/store.js';
import { openTestDatabase } from '../support/database.js';
import { logFileOf, noteSecret } from '../support/logs.js';

export const PEPPER = 'a pepper that only the tests use, long enough';

export type TestAppOptions = {
  trustedProxies?: number;
  checks?: Record<string, HealthCheck>;
  load?: Partial<LoadLimits> & { lookEveryMs?: number };
  callbackAllowance?: { rate: number; burst: number };
  clock?: () => Date;
};

/** The real stack over a database of its own, with a few routes in place of the capabilities. */
export async function createTestApp(options: TestAppOptions = {}) {
  const database = await openTestDatabase();
  const { db } = database;
  const lines: string[] = [];
  const logFile = logFileOf('test-app', database.name);
  noteSecret(PEPPER);
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      appendFileSync(logFile, chunk);
      done();
    },
  });
  const log = createLog({ level: 'debug', name: 'test', destination });
  const tenants = createTenants({ db, environment: 'sandbox' });
  const { clock } = options;
  const keyDeps = { db, pepper: PEPPER, environment: 'sandbox' as const, tenants, log };
  const apiKeys = createApiKeys({ ...keyDeps, ...(clock && { clock }) });
  // A busy test machine is not what the 50 ms are about.
  const rateLimits = createRateLimits({ db, log, answerWithinMs: 10_000 });
  const health = createHealth({ checks: options.checks ?? {}, log });
  // So generous that only a test which asks for less ever meets them.
  const load = createLoad({ maxInFlight: 10_000, maxLagMs: 60_000, log, ...options.load });
  const registry = new Registry();
  const effects: unknown[] = [];
  const app = createApp({
    log,
    apiKeys,
    rateLimits,
    health,
    load,
    measure: measureRequests(registry, load),
    routers: [thingRoutes(effects)],
    publicRouters: [
      {
        name: 'callbacks',
        router: callbackRoutes(effects),
        ...(options.callbackAllowance && { allowance: options.callbackAllowance }),
      },
    ],
    trustedProxies: options.trustedProxies ?? 0,
  });

  return {
    app,
    server: app.callback(),
    database,
    apiKeys,
    tenants,
    health,
    load,
    registry,
    log,
    lines,
    /** What the test routes did: bad input must leave it empty. */
    effects,
    async createKey(key: Partial<Omit<NewApiKey, 'tenant'>> = {}, tenant: Partial<NewTenant> = {}) {
      const owner = await tenants.create({ name: 'Ada & Sons', plan: 'scale', ...tenant });
      const made = await apiKeys.create({
        tenant: owner.id,
        level: 'write',
        kind: 'secret',
        ...key,
      });
      return { ...made, tenant: owner.id };
    },
    async close() {
      load.stop();
      await apiKeys.idle();
      await rateLimits.idle();
      await database.close();
    },
  };
}

const thingBody = z.strictObject({
  amount_minor: z.int().min(1),
  account: z.string().regex(/^[0-9]{10}$/),
  metadata: z.record(z.string(), z.json()).optional(),
});
const listQuery = z.strictObject({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

function thingRoutes(effects: unknown[]) {
  const router = new Router<AppState>();
  router.get('/things', (ctx) => {
    const { page, limit } = validateQuery(listQuery, ctx);
    sendList(ctx, [{ id: 1 }], { page, limit, total: 41 });
  });
  router.post('/things', jsonBody(), (ctx) => {
    const body = validateBody(thingBody, ctx);
    effects.push(body);
    sendData(ctx, 201, body);
  });
  router.get('/things/:id', (ctx) => {
    sendData(ctx, 200, { id: ctx.params['id'], tenant: callerOf(ctx).tenant.id });
  });
  router.post('/things/:id/lock', jsonBody(), (ctx) => {
    sendData(ctx, 201, validateBody(z.strictObject({}), ctx));
  });
  router.put('/settings', requireLevel('admin'), jsonBody(), (ctx) => sendData(ctx, 200, {}));
  router.post('/payment-tokens', acceptPublicKeys, jsonBody(), (ctx) => sendData(ctx, 201, {}));
  router.get('/slow', async (ctx) => {
    effects.push('slow began');
    await new Promise((resolve) => setTimeout(resolve, 300));
    sendData(ctx, 200, { slow: true });
  });
  router.get('/broken', () => {
    throw new Error('account 0123456789 of sk_sandbox_abcdef0123 is broken');
  });
  router.get('/unserializable', (ctx) => sendData(ctx, 200, { amount: 1n }));
  router.get('/unfortunate', () => {
    throw new ApiError('insufficient_balance', { details: { required: 2, available: 1 } });
  });
  return router;
}

function callbackRoutes(effects: unknown[]) {
  const router = new Router<AppState>();
  router.post('/webhooks/payments/:provider', rawBody(), (ctx) => {
    effects.push(ctx.state.body?.bytes.toString('latin1'));
    sendData(ctx, 200, {});
  });
  return router;
}
